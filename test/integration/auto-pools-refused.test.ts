import { beforeAll, expect, test } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { asks, lead, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

let stage: SubnetStage;

beforeAll(async () => {
  stage = await startSubnetStage();
  return () => stage[Symbol.asyncDispose]();
});

/** The client of a leader whose changes of pools go through `change`. */
function changing(change: (send: () => ReturnType<KubeClient['update']>) => ReturnType<KubeClient['update']>) {
  const client = stage.cluster.controller();
  const update: KubeClient['update'] = (resource, object, options) => {
    const send = () => client.update(resource, object, options);
    return resource === POOLS && options?.subresource === undefined ? change(send) : send();
  };
  return new Proxy(client, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'update') return update;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a pool that may not become smaller at this moment is tried again soon, and is no shortage', async () => {
  await stage.subnet('busy', { subnet: '10.72.0.0/24', ips: ['10.72.0.10-10.72.0.19'] });
  let refusals = 0;
  let isScaled = false;
  const client = changing((send) => {
    if (!isScaled || refusals === 3) return send();
    refusals += 1;
    return Promise.resolve(failure('Invalid', 'spec.ips: 10.72.0.13 is being used by Pod prod/web-0'));
  });
  await using led = await lead(stage, { client });
  await stage.deploy('busy', 4, asks('busy'));
  await stage.poolWith('busy', 4);
  isScaled = true;
  await stage.scale('busy', 1);
  await stage.poolWith('busy', 1);
  expect(refusals).toBe(3);
  expect(led.told.filter(({ regarding }) => regarding.name === 'busy')).toEqual([]);
});
