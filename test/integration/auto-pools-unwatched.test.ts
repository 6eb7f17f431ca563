import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import { asks, discard, type Led, lead, PATIENCE, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

let stage: SubnetStage;
let led: Led;

beforeAll(async () => {
  stage = await startSubnetStage();
  await stage.subnet('named', { subnet: '10.70.0.0/24', ips: ['10.70.0.10-10.70.0.99'] });
  await stage.subnet('other', { subnet: '10.71.0.0/24', ips: ['10.71.0.10-10.71.0.99'] });
  led = await lead(stage);
  return async () => {
    await led[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  };
});

const SUBNET = 'ipam.spidernet.io/subnet';

test.for([
  ['its application is deleted', (name: string) => discard(stage.admin, DEPLOYMENTS, name)],
  ['the annotation is removed', (name: string) => stage.annotate(name, { [SUBNET]: null })],
  ['the annotation names another subnet', (name: string) => stage.annotate(name, asks('other'))],
] as const)(
  'a pool whose application named its subnet, then none that can be read, goes when %s',
  async ([end, change]) => {
    const name = `typo-${end.length}`;
    await stage.deploy(name, 2, asks('named'));
    const { metadata } = await stage.poolWith(name, 2);
    await stage.annotate(name, { [SUBNET]: 'broken' });
    const toldOf = () =>
      led.told.filter(({ regarding, reason }) => regarding.name === name && reason.startsWith('Bad'));
    await vi.waitFor(() => expect(toldOf()).toHaveLength(1), PATIENCE);
    expect((await stage.poolWith(name, 2)).metadata.uid).toBe(metadata.uid);
    await sleep(1_000); // the pass that the faulty annotation caused is over
    await change(name);
    await vi.waitFor(
      async () => expect((await stage.poolsOf(name)).map((pool) => pool.metadata.uid)).not.toContain(metadata.uid),
      PATIENCE,
    );
  },
);
