import { beforeAll, expect, test, vi } from 'vitest';
import { CONFIG_MAPS, DEPLOYMENTS, PODS } from '#pkg/kube/objects/core-resources.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { type AgentAtWork, type Pod, startAgentOf } from './pod-cluster.ts';
import { eventually, sure } from './spider-objects.ts';
import { deployWithPods } from './stage-pods.ts';
import { asks, discard, ipsOf, lead, NAMESPACE, PATIENCE, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

let stage: SubnetStage;
let agent: AgentAtWork;

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  stage = stack.use(await startSubnetStage());
  await sure(stage.admin.create(CONFIG_MAPS, { metadata: { name: 'ipledger-adopted', namespace: 'ipledger' } }));
  agent = stack.use(await startAgentOf({ ledger: stage.cluster }));
  await agent.untilReady();
  const everything = stack.move();
  return () => everything.disposeAsync();
});

const deploy = (name: string, replicas: number, annotations: Readonly<Record<string, string>>) =>
  deployWithPods(stage, name, replicas, annotations);

async function addressOf(pod: Pod): Promise<string> {
  return (await agent.addressesOf(pod)).join();
}

/** An address is kept while its pod exists. */
async function end(pod: Pod): Promise<void> {
  await sure(stage.admin.delete(PODS, pod));
  await agent.del(pod);
}

function untilWaiting(count: number): Promise<unknown> {
  return vi.waitUntil(() => agent.gauge('waiting-adds') === count, PATIENCE);
}

test('pods wait for the pool of their Deployment, get its addresses as it grows, and it shrinks and goes as they leave', async () => {
  await stage.subnet('office', { subnet: '10.1.0.0/24', ips: ['10.1.0.10-10.1.0.99'] });
  const web = await deploy('web', 2, asks('office'));
  const first = await web.pods(2);
  const asked = Promise.all(first.map(addressOf));
  await untilWaiting(2);
  await using _ = await lead(stage);
  expect((await asked).toSorted()).toEqual(['10.1.0.10', '10.1.0.11']);

  const more = await web.pods(2);
  const askedMore = Promise.all(more.map(addressOf));
  await untilWaiting(2);
  await stage.scale('web', 4);
  expect((await askedMore).toSorted()).toEqual(['10.1.0.12', '10.1.0.13']);
  expect(ipsOf(await stage.poolWith('web', 4))).toEqual(['10.1.0.10-10.1.0.13']);

  const [stays, ...leave] = [...first, ...more];
  if (stays === undefined) throw new Error('no pod');
  const kept = await addressOf(stays);
  await stage.scale('web', 1);
  for (const pod of leave) await end(pod);
  expect(ipsOf(await stage.poolWith('web', 1))).toEqual([kept]);

  await discard(stage.admin, DEPLOYMENTS, 'web');
  await eventually(stage.admin, SUBNETS, { name: 'office' }, (object) =>
    expect(object?.['status']).toMatchObject({ allocatedIPCount: 1 }),
  );
  expect(await addressOf(stays)).toBe(kept);
  await end(stays);
  await vi.waitFor(async () => expect(await stage.poolsOf('web')).toEqual([]), PATIENCE);
  await eventually(stage.admin, SUBNETS, { name: 'office' }, (object) =>
    expect(object?.['status']).toMatchObject({ totalIPCount: 90, allocatedIPCount: 0 }),
  );
});

test('an ADD says what the controller says while the subnet is too small, and a waiting one is served once there is room', async () => {
  await stage.subnet('small', { subnet: '10.2.0.0/24', ips: ['10.2.0.10-10.2.0.14'] });
  await using _ = await lead(stage);
  await deploy('early', 3, asks('small'));
  await stage.poolWith('early', 3);
  const late = await deploy('late', 4, asks('small'));
  const pod = await late.pod();
  await vi.waitFor(async () => {
    const { reason, message } = await agent.refusal(pod, { timeoutMs: 1_000 });
    expect(reason).toBe('auto-pool-missing');
    expect(message).toContain(
      `IPv4 pool of Deployment ${NAMESPACE}/late from subnet small: there is no pool yet; the controller says: required 4 more for 4 in all, left 2`,
    );
  }, PATIENCE);
  expect(await stage.poolsOf('late')).toEqual([]);

  const waiting = addressOf(pod);
  await untilWaiting(1);
  await stage.scale('late', 2);
  expect(['10.2.0.13', '10.2.0.14']).toContain(await waiting);
});
