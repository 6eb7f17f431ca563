import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { keepPools } from '#controller/lifecycle/keep-pools.ts';
import { projectPools } from '#controller/project/project-pools.ts';
import { ADMIN_PATHS, type ExplainAnswer } from '#pkg/agentapi/admin.ts';
import type { ErrorBody } from '#pkg/agentapi/wire.ts';
import { NO_EVENTS } from '#pkg/kube/events/events.ts';
import { FINALIZER, POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import {
  type AgentAtWork,
  type Answer,
  addArgsOf,
  type Pod,
  type PodCluster,
  startAgentOf,
  startPodCluster,
} from './pod-cluster.ts';
import { type PoolWithPods, poolMaker } from './pool-with-pods.ts';
import { conditionsOf, eventually } from './spider-objects.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

const poolOf = poolMaker(() => cluster);
const patchSpec = ({ path }: PoolWithPods, spec: object) => cluster.patch(path, { spec });
const addressesHeld = async () => (await cluster.records()).map(({ spec }) => spec.address).sort();

interface HeldAgent extends AgentAtWork {
  /** An ADD that has chosen its address before `change` starts, and whose create is sent after `change` is done. */
  addAcross(pod: Pod, change: () => Promise<void>): Promise<Answer<unknown>>;
}

async function startHeldAgent(): Promise<HeldAgent> {
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(await startTcpProxy(cluster.ledger.port));
  let onChosen = () => {};
  const agent = stack.use(
    await startAgentOf(cluster, {
      port: proxy.port,
      failpoint: (step) => void (step === 'address-chosen' && onChosen()),
    }),
  );
  await agent.untilReady();
  const everything = stack.move();
  return {
    ...agent,
    addAcross: async (pod, change) => {
      const { promise: chosen, resolve } = Promise.withResolvers<'chosen'>();
      onChosen = () => {
        proxy.hold(); // before the create is sent, and in both directions, so that the agent does not see the change
        resolve('chosen');
      };
      const before = await addressesHeld();
      const adding = agent.tryAdd(pod);
      expect(await Promise.race([chosen, adding])).toBe('chosen');
      onChosen = () => {};
      await change();
      expect(await addressesHeld()).toEqual(before);
      proxy.release();
      return await adding;
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** Waits with `explain`, which takes no address, until the agent has seen the change; then the ADD is refused like this. */
async function expectRefusal(agent: AgentAtWork, pod: Pod, expected: object): Promise<void> {
  await vi.waitFor(async () => {
    const { body } = await agent.call<ExplainAnswer & ErrorBody>('POST', ADMIN_PATHS.explain, addArgsOf(pod));
    expect(body.refusal ?? body).toMatchObject(expected);
  }, 20_000);
  expect(await agent.refusal(pod)).toMatchObject(expected);
}

const full = ({ name }: PoolWithPods, { length }: readonly string[]) => ({
  reason: 'pools-exhausted',
  message: expect.stringContaining(`${name} ${length}/${length} used`),
});

async function giveBack(agent: AgentAtWork, pod: Pod): Promise<void> {
  await cluster.deletePod(pod);
  await vi.waitUntil(async () => {
    await agent.del(pod);
    return (await cluster.records()).every(({ spec }) => spec.holder.uid !== pod.uid);
  }, 20_000);
}

/** The part of the controller that adds and removes the finalizers of pools. */
function keepPoolsAsLeader(): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const client = cluster.ledger.controller();
  const views = stack.use(watchAsLeader(client));
  const context = { client, log: silent, now: () => new Date(), isLeader: () => true, ...views };
  const ledger = openKubernetesLedger(client);
  stack.use(keepPools({ ...context, ledger, events: NO_EVENTS }));
  stack.use(projectPools({ ...context, nodeCount: () => 1 }));
  return stack;
}

describe('a pool that changes after an ADD has chosen and before the record is created', () => {
  test.each<{
    name: string;
    change: (pool: PoolWithPods) => Promise<void>;
    next: string;
    reopen: (pool: PoolWithPods, ips: readonly string[]) => Promise<void>;
  }>([
    {
      name: 'deleted',
      change: ({ path }) => cluster.remove(path),
      next: 'unknown-pool',
      reopen: (pool, ips) => pool.create(ips),
    },
    {
      name: 'disabled',
      change: (pool) => patchSpec(pool, { disable: true }),
      next: 'no-eligible-pool',
      reopen: (pool, ips) => patchSpec(pool, { disable: false, ips }),
    },
    {
      name: 'emptied',
      change: (pool) => patchSpec(pool, { ips: [] }),
      next: 'no-eligible-pool',
      reopen: (pool, ips) => patchSpec(pool, { ips }),
    },
  ])(
    '$name: that ADD has its address, the next gets none, and a pool that is given the address finds it held until the DEL',
    async ({ change, next, reopen }) => {
      const pool = await poolOf(['10', '11', '12']);
      await using agent = await startHeldAgent();
      const [first, second] = [await pool.pod('first'), await pool.pod('second')];
      expect(await agent.addAcross(first, () => change(pool))).toMatchObject({ status: 200 });
      const given = await addressesHeld();
      await expectRefusal(agent, second, { reason: next });
      expect(await agent.addressesOf(first)).toEqual(given); // the repeated ADD gets the same addresses
      await reopen(pool, given);
      await expectRefusal(agent, second, full(pool, given));
      await giveBack(agent, first);
      expect(await agent.addressesOf(second)).toEqual(given);
      expect(await addressesHeld()).toEqual(given);
    },
  );

  test('shrunk by the chosen address: no later ADD gets it, and the rest of the pool is given out', async () => {
    const pool = await poolOf(['10', '11', '12']);
    await using agent = await startHeldAgent();
    const [early, first, second] = [await pool.pod('early'), await pool.pod('first'), await pool.pod('second')];
    const kept = await agent.addressesOf(early);
    await agent.add(await pool.pod('other'));
    const left = await addressesHeld(); // so the third is the one that is chosen
    expect(await agent.addAcross(first, () => patchSpec(pool, { ips: left }))).toMatchObject({ status: 200 });
    expect(await addressesHeld()).toEqual([10, 11, 12].map(pool.address));
    await expectRefusal(agent, second, full(pool, left));
    await giveBack(agent, first);
    await expectRefusal(agent, second, full(pool, left));
    await giveBack(agent, early);
    expect(await agent.addressesOf(second)).toEqual(kept);
    expect(await addressesHeld()).toEqual(left);
  });

  test('marked for deletion: the address holds the pool until its DEL, and the next ADD gets none of the others', async () => {
    const pool = await poolOf(['10', '11'], {}, { finalizers: [FINALIZER] });
    await using agent = await startHeldAgent();
    const [first, second] = [await pool.pod('first'), await pool.pod('second')];
    expect(await agent.addAcross(first, () => cluster.remove(pool.path))).toMatchObject({ status: 200 });
    await using _ = keepPoolsAsLeader();
    const admin = cluster.ledger.controller();
    await eventually(admin, POOLS, pool, (object) => {
      expect(conditionsOf(object)).toContain('Ready=False/Terminating');
      expect(object).toMatchObject({ metadata: { finalizers: [FINALIZER] }, status: { allocatedIPCount: 1 } });
    });
    await expectRefusal(agent, second, { reason: 'no-eligible-pool' });
    await giveBack(agent, first);
    await eventually(admin, POOLS, pool, (object) => expect(object).toBeNull());
    await expectRefusal(agent, second, { reason: 'unknown-pool' });
    expect(await addressesHeld()).toEqual([]);
  });
});
