import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { NodePod } from '#agent/sources/pods.ts';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { autoKey, buildAutoPool, WEB } from '#test/support/build-auto-pool.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, newCall } from '#test/support/memory-agent.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

const SUBNET = { 'ipam.spidernet.io/subnet': '{"ipv4":["office"]}' };
const BOTH = { 'ipam.spidernet.io/subnet': '{"ipv4":["office"],"ipv6":["office-6"]}' };
const V6 = autoKey({ subnet: 'office-6', family: 6 });

const made = (ips: readonly string[], key: AutoPoolKey = autoKey(), name = 'auto4-web-eth0-1f2e3'): Pool =>
  buildAutoPool(key, { name, ips });
const ONE = made(['10.0.0.10']);
const SPARE = buildPool({ name: 'spare', subnet: '10.9.0.0/24', isDefault: true });

function podOf(agent: MemoryClusterAgent, name: string, more: Partial<NodePod> = {}): NodePod {
  return agent.pods.put(name, { controller: WEB, annotations: SUBNET, ...more });
}

const refusal = (agent: MemoryClusterAgent, pod: NodePod, timeoutMs = 1_000) => {
  const args = addArgs('c1', { podNamespace: pod.namespace, podName: pod.name, podUID: pod.uid });
  return agent.agent.add(args, newCall(timeoutMs)).then(
    () => expect.fail('it was not refused'),
    (thrown: unknown) => thrown as { reason: string; message: string; details: string },
  );
};

/** Less than a call waits: whoever is not woken fails. */
const SOON = { timeout: 10_000 };

describe('a pod that names a subnet', SOON, () => {
  test('gets an address of the pool of its application, and of no other', async () => {
    await using agent = await startMemoryClusterAgent([
      SPARE,
      made(['10.0.0.20'], autoKey({ application: { ...WEB, name: 'db' } }), 'of-db'),
      made(['10.0.0.30'], autoKey({ interface: 'net1' }), 'of-net1'),
      ONE,
    ]);
    expect(await agent.add(podOf(agent, 'web-1'), 'c1')).toEqual(['10.0.0.10']);
  });

  test('waits until the pool is there', async () => {
    await using agent = await startMemoryClusterAgent([SPARE]);
    const waiting = agent.add(podOf(agent, 'web-1'), 'c1');
    await sleep(20);
    expect(agent.autoPools.waiting).toBe(1);
    agent.catalog.change([SPARE, made(['10.0.0.10'], autoKey({ application: { ...WEB, uid: 'earlier' } }), 'earlier')]);
    agent.catalog.change([SPARE, ONE]);
    expect(await waiting).toEqual(['10.0.0.10']);
    expect(agent.autoPools.waiting).toBe(0);
  });

  test('waits for the pools of both families', async () => {
    await using agent = await startMemoryClusterAgent([ONE]);
    const waiting = agent.add(podOf(agent, 'web-1', { annotations: BOTH }), 'c1');
    await sleep(20);
    expect(await agent.records()).toEqual([]);
    agent.catalog.change([ONE, made(['fd00::10'], V6, 'auto6')]);
    expect((await waiting).toSorted()).toEqual(['10.0.0.10', 'fd00::10']);
  });

  test.each([
    { name: 'has no addresses yet: the application had no replicas', pool: made([]) },
    { name: 'is being deleted', pool: { ...ONE, isTerminating: true } },
  ])('waits while its pool $name', async ({ pool }) => {
    await using agent = await startMemoryClusterAgent([pool]);
    const waiting = agent.add(podOf(agent, 'web-1'), 'c1');
    await sleep(20);
    agent.catalog.change([ONE]);
    expect(await waiting).toEqual(['10.0.0.10']);
  });

  test('waits for an address of its full pool longer than other calls do, and gets the one that comes back', async () => {
    await using agent = await startMemoryClusterAgent([ONE], { exhaustedWaitMs: 0 });
    const first = podOf(agent, 'web-1');
    await agent.add(first, 'c1');
    const waiting = agent.add(podOf(agent, 'web-2'), 'c2');
    await sleep(20);
    agent.pods.end(first);
    await agent.del(first, 'c1');
    expect(await waiting).toEqual(['10.0.0.10']);
  });

  test('gets an address of its full pool when the pool grows', async () => {
    await using agent = await startMemoryClusterAgent([ONE]);
    await agent.add(podOf(agent, 'web-1'), 'c1');
    const waiting = agent.add(podOf(agent, 'web-2'), 'c2');
    await sleep(20);
    agent.catalog.change([made(['10.0.0.10-10.0.0.11'])]);
    expect(await waiting).toEqual(['10.0.0.11']);
  });

  test('is refused at once where an administrator has disabled its pool', async () => {
    await using agent = await startMemoryClusterAgent([{ ...ONE, isDisabled: true }]);
    expect(await refusal(agent, podOf(agent, 'web-1'), 60_000)).toMatchObject({
      reason: 'no-eligible-pool',
      details: 'auto4-web-eth0-1f2e3: it is disabled',
    });
  });

  test('of an owner that Kubernetes does not bring along', async () => {
    const game = { ...WEB, apiVersion: 'games.example/v1', kind: 'Game', name: 'chess' };
    await using agent = await startMemoryClusterAgent([
      made(['10.0.0.40'], autoKey({ application: game }), 'of-chess'),
    ]);
    expect(await agent.add(podOf(agent, 'chess-x', { controller: game }), 'c1')).toEqual(['10.0.0.40']);
  });

  test('takes nothing after its caller went away', async () => {
    await using agent = await startMemoryClusterAgent([]);
    const gone = new AbortController();
    const { name, namespace, uid } = podOf(agent, 'web-1');
    const args = addArgs('c1', { podNamespace: namespace, podName: name, podUID: uid });
    const waiting = agent.agent.add(args, newCall(30_000, gone.signal));
    await sleep(20);
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'caller-gone' });
    expect(agent.autoPools.waiting).toBe(0);
  });

  test('is told at once to try again later when the agent stops', async () => {
    await using agent = await startMemoryClusterAgent([]);
    const waiting = refusal(agent, podOf(agent, 'web-1'), 60_000);
    await sleep(20);
    agent.autoPools.stop();
    expect((await waiting).reason).toBe('auto-pool-missing');
  });

  test('keeps its address without a look at its owner, and without a pool', async () => {
    const asked: string[] = [];
    const applications = {
      whyNot: async () => {
        asked.push('asked');
        return null;
      },
    };
    await using agent = await startMemoryClusterAgent([ONE], { applications });
    const pod = podOf(agent, 'web-1');
    await agent.add(pod, 'c1');
    agent.catalog.change([]);
    expect(await agent.add(pod, 'c2')).toEqual(['10.0.0.10']);
    expect(asked).toHaveLength(1);
  });
});

describe('when time is over', () => {
  const said = async ({ family }: AutoPoolKey) => (family === 4 ? 'the controller says: required 10, left 3' : null);

  test('the error names subnet, application and family, and what the controller says', async () => {
    await using agent = await startMemoryClusterAgent([], { shortages: { find: said } });
    expect(await refusal(agent, podOf(agent, 'web-1', { annotations: BOTH }))).toMatchObject({
      reason: 'auto-pool-missing',
      message:
        'no IPv4 and IPv6 address for eth0: ' +
        'IPv4 pool of Deployment prod/web from subnet office: there is no pool yet; the controller says: required 10, left 3; ' +
        'IPv6 pool of Deployment prod/web from subnet office-6: there is no pool yet; the controller has not said why; is it running, and does the template of the application name this subnet?',
    });
  });

  test('the error says what is the matter with a pool that is there', async () => {
    await using agent = await startMemoryClusterAgent([made([])], { shortages: { find: said } });
    expect((await refusal(agent, podOf(agent, 'web-1'))).message).toContain(
      'from subnet office: auto4-web-eth0-1f2e3: it has no address: ips is empty or all of it is excluded; the controller says',
    );
  });

  test('a full pool is told with its numbers, and what the controller says', async () => {
    await using agent = await startMemoryClusterAgent([ONE], { shortages: { find: said } });
    await agent.add(podOf(agent, 'web-1'), 'c0');
    expect(await refusal(agent, podOf(agent, 'web-2'))).toMatchObject({
      reason: 'pools-exhausted',
      message: expect.stringContaining(
        'auto4-web-eth0-1f2e3 1/1 used; IPv4 pool of Deployment prod/web from subnet office: the controller says: required 10',
      ),
    });
  });

  test('explain says the same without waiting', async () => {
    await using agent = await startMemoryClusterAgent([ONE], { shortages: { find: said } });
    const explain = (pod: NodePod) =>
      agent.agent.inspector.explain(addArgs('c9', { podNamespace: pod.namespace, podName: pod.name, podUID: pod.uid }));
    await agent.add(podOf(agent, 'web-1'), 'c0');
    const web2 = podOf(agent, 'web-2');
    expect(await explain(web2)).toMatchObject({
      source: 'pod annotation ipam.spidernet.io/subnet',
      pools: [{ name: 'auto4-web-eth0-1f2e3', used: '1', total: '1', place: 1 }],
      refusal: {
        reason: 'pools-exhausted',
        message: expect.stringContaining('the controller says: required 10, left 3'),
      },
    });
    agent.catalog.change([]);
    expect(await explain(web2)).toMatchObject({
      pools: [],
      refusal: { reason: 'auto-pool-missing', message: expect.stringContaining('the controller says: required 10') },
    });
  });
});

describe('what a pod says about its owner', () => {
  const applications = { whyNot: async () => 'there is no Deployment prod/web' };

  test('does not get it an address of the pool before it is verified', async () => {
    await using agent = await startMemoryClusterAgent([ONE], { applications });
    expect(await refusal(agent, podOf(agent, 'web-1'))).toMatchObject({
      reason: 'no-eligible-pool',
      details: 'auto4-web-eth0-1f2e3: there is no Deployment prod/web',
    });
    expect(await agent.records()).toEqual([]);
  });

  test('not by the name of the pool either', async () => {
    await using agent = await startMemoryClusterAgent([ONE], { applications });
    const annotations = { 'ipam.spidernet.io/ippool': '{"ipv4":["auto4-*"]}' };
    for (const controller of [WEB, { ...WEB, uid: 'made-up' }]) {
      const pod = podOf(agent, 'web-1', { annotations, controller });
      expect((await refusal(agent, pod)).details).toContain('there is no Deployment prod/web');
    }
  });

  test('is nothing to look into for a pod that needs no such pool', async () => {
    await using agent = await startMemoryClusterAgent([ONE, SPARE], { applications });
    expect((await agent.add(podOf(agent, 'web-1', { annotations: {} }), 'c1'))[0]).toMatch(/^10\.9\./);
  });

  test('and owners are read anew before a call waits: a ReplicaSet may have got another Deployment', async () => {
    const asked: (boolean | undefined)[] = [];
    const tops: Controller[] = [WEB, { ...WEB, uid: 'anew' }];
    const controllers = {
      find: async (_: NodePod, wish?: { readonly isFresh: boolean }) => {
        asked.push(wish?.isFresh);
        return tops[wish?.isFresh === true ? 1 : 0] ?? null;
      },
    };
    const anew = made(['10.0.0.10'], autoKey({ application: { ...WEB, uid: 'anew' } }));
    await using agent = await startMemoryClusterAgent([anew], { controllers });
    expect(await agent.add(podOf(agent, 'web-1'), 'c1')).toEqual(['10.0.0.10']);
    expect(asked).toEqual([undefined, true]);
  });
});

test(
  'a sticky pod takes back its own address from the pool, also where it had to wait for the pool',
  SOON,
  async () => {
    const set: OwnerReference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: WEB.uid };
    const key = (uid: string) => autoKey({ application: { ...set, namespace: 'prod', uid } });
    const ips = ['10.0.0.10-10.0.0.19'];
    await using agent = await startMemoryClusterAgent([made(ips, key(WEB.uid))]);
    const before = podOf(agent, 'db-0', { controller: set });
    const [address] = await agent.add(before, 'c1');
    agent.pods.end(before);
    await agent.del(before, 'c1');
    expect((await agent.records()).map(({ spec }) => spec.state)).toEqual(['Retained']);
    // The set was deleted without its pods and made again: the controller has not re-labelled the pool yet.
    const after = podOf(agent, 'db-0', { uid: 'next', controller: { ...set, uid: 'anew' } });
    const waiting = agent.add(after, 'c2');
    await sleep(20);
    agent.catalog.change([made(ips, key('anew'))]);
    expect(await waiting).toEqual([address]);
  },
);
