import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';
import { poolMaker } from './pool-with-pods.ts';

const IPPOOL = 'ipam.spidernet.io/ippool';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

const poolOf = poolMaker(() => cluster);

describe('two agents', () => {
  test('compete for the last address 500 times: each time exactly one gets it', async () => {
    const pool = await poolOf(['10']);
    await using one = await startAgentOf(cluster);
    await using two = await startAgentOf(cluster, { node: 'worker-2' });
    const racers = [
      { agent: one, pod: await pool.pod('a') },
      { agent: two, pod: await pool.pod('b', 'worker-2') },
    ];
    for (const { agent } of racers) await agent.untilReady();
    for (let round = 0; round < 500; round += 1) {
      const answers = await Promise.all(
        racers.map(({ agent, pod }) => agent.tryAdd(pod, { containerID: `r${round}` })),
      );
      const lost = answers.filter(({ status }) => status !== 200).map(({ body }) => body);
      expect(lost).toMatchObject([{ reason: 'pools-exhausted' }]);
      await cluster.ledger.clear(); // the pods are alive: a DEL would keep their addresses
    }
  });

  test('one waits for an address of a full pool and gets it when the other releases one', async () => {
    const pool = await poolOf(['10']);
    await using one = await startAgentOf(cluster);
    await using two = await startAgentOf(cluster, { node: 'worker-2', config: { exhaustedWaitSeconds: 60 } });
    await Promise.all([one.untilReady(), two.untilReady()]);
    const first = await pool.pod('first');
    await one.add(first);
    const waiting = two.addressesOf(await pool.pod('second', 'worker-2'), { timeoutMs: 90_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await cluster.deletePod(first);
    const begun = performance.now();
    await vi.waitUntil(async () => {
      await one.del(first);
      return (await cluster.records()).every(({ spec }) => spec.holder.name !== first.name);
    }, 20_000);
    expect(await waiting).toEqual([pool.address(10)]);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});

test('while a hundred pods wait for a full pool, one of another pool is answered', async () => {
  const [full, open] = [await poolOf(['10']), await poolOf(['10', '11', '12'])];
  await using agent = await startAgentOf(cluster, { config: { exhaustedWaitSeconds: 200 } });
  await agent.untilReady();
  await agent.add(await full.pod('holder'));
  const pods = await Promise.all(Array.from({ length: 100 }, (_, at) => full.pod(`waiter-${at}`)));
  const ended: number[] = [];
  const waiting = pods.map(async (pod) => {
    const { status } = await agent.tryAdd(pod, { timeoutMs: 210_000 });
    ended.push(status);
  });
  await vi.waitUntil(() => agent.gauge('waiting-adds') === 100, 60_000);
  await agent.add(await open.pod('other'), { timeoutMs: 210_000 });
  expect(ended).toEqual([]);
  await agent.stop();
  await Promise.all(waiting);
  expect(ended).toEqual(Array.from(pods, () => 500));
});

test('when one family of a dual-stack ADD fails, the address of the other is released', async () => {
  const pool = await poolOf(['10', '11']);
  await cluster.createPool('six', { subnet: 'fd00::/64', ips: ['fd00::10'] });
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const annotations = { [IPPOOL]: JSON.stringify({ ipv4: [pool.name], ipv6: ['six'] }) };
  await agent.add(await cluster.createPod({ name: 'dual-1', annotations }));
  const { reason } = await agent.refusal(await cluster.createPod({ name: 'dual-2', annotations }));
  expect(reason).toBe('pools-exhausted');
  expect((await cluster.records()).map(({ spec }) => spec.holder.name)).toEqual(['dual-1', 'dual-1']);
});

test('in a pool with a cooldown a released address is not given out before the cooldown ends', async () => {
  const pool = await poolOf(['10'], {}, { annotations: { 'ipledger.io/reuse-cooldown': '1h' } });
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const pod = await pool.pod('first');
  await agent.add(pod);
  await cluster.deletePod(pod);
  await vi.waitUntil(async () => {
    await agent.del(pod);
    return (await cluster.records())[0]?.spec.state === 'Cooling';
  }, 20_000);
  const [record] = await cluster.records();
  expect(record?.spec.holder).not.toHaveProperty('uid');
  expect(Date.parse(record?.spec.until ?? '') - Date.now()).toBeGreaterThan(50 * 60_000);
  expect((await agent.refusal(await pool.pod('second'))).reason).toBe('pools-exhausted');
});

test('without a prober a Suspect address is never taken by another', async () => {
  const pool = await poolOf(['10']);
  const controller = openKubernetesLedger(cluster.ledger.controller());
  await using one = await startAgentOf(cluster);
  await using two = await startAgentOf(cluster, { node: 'worker-2' });
  await Promise.all([one.untilReady(), two.untilReady()]);
  await one.add(await pool.pod('first'));
  const [record] = await cluster.records();
  if (record === undefined) throw new Error('no record');
  await controller.amend(record, { ...record.spec, state: 'Suspect' });
  expect((await two.refusal(await pool.pod('second', 'worker-2'))).reason).toBe('pools-exhausted');
  expect(await cluster.records()).toMatchObject([{ uid: record.uid, spec: { state: 'Suspect' } }]);
  await controller.close();
});

test('a reserved address is not given out, and a pool of only reserved addresses has an objection', async () => {
  const pool = await poolOf(['10', '11']);
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const path = '/apis/spiderpool.spidernet.io/v2beta1/spiderreservedips';
  const reserve = (name: string, last: number) =>
    cluster.post(path, {
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderReservedIP',
      metadata: { name },
      spec: { ips: [pool.address(last)] },
    });
  await reserve('r-10', 10);
  const pod = await pool.pod('first');
  await vi.waitUntil(async () => {
    await cluster.ledger.clear();
    return (await agent.addressesOf(pod)).includes(pool.address(11));
  }, 20_000);
  await reserve('r-11', 11);
  const second = await pool.pod('second');
  await vi.waitUntil(async () => {
    const { body } = await agent.tryAdd(second);
    return JSON.stringify(body).includes('all its addresses are reserved');
  }, 20_000);
});
