import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { Election, type ElectionOptions, type ElectionTrouble } from '#pkg/kube/leader/election.ts';
import { LEASES } from '#pkg/kube/leader/lease.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { accessAt, clientOf, portOf } from './kube-things.ts';

const server = useSharedServer();
let admin: KubeClient;

beforeAll(async () => {
  admin = clientOf(server);
  return () => admin[Symbol.dispose]();
});

const PATIENCE_MS = 30_000;
const PACE = { leaseMs: 4_000, renewDeadlineMs: 3_000, retryMs: 300 };

function stand(name: string, identity: string, client = admin, more: Partial<ElectionOptions> = {}) {
  const terms: AbortSignal[] = [];
  const troubles: ElectionTrouble[] = [];
  const election = new Election(client, {
    namespace: 'default',
    name,
    identity,
    now: () => new Date(),
    pace: PACE,
    lead: async (term) => void terms.push(term),
    onTrouble: (trouble) => void troubles.push(trouble),
    ...more,
  });
  return { election, terms, troubles, [Symbol.asyncDispose]: () => election[Symbol.asyncDispose]() };
}

const leaseOf = async (name: string) => {
  const found = await admin.get(LEASES, { namespace: 'default', name });
  return found.ok ? (found.object['spec'] as { holderIdentity: string; leaseTransitions: number }) : null;
};

/** Concurrent, because each test has its own lease, and mostly waits. */
describe.concurrent('an election', () => {
  test('of several candidates one leads, and goes on leading', async () => {
    await using a = stand('several', 'a');
    await using b = stand('several', 'b');
    await using c = stand('several', 'c');
    const all = [a, b, c];
    await vi.waitFor(() => expect(all.filter(({ election }) => election.isLeader())).toHaveLength(1), PATIENCE_MS);
    const leader = all.find(({ election }) => election.isLeader());
    for (let look = 0; look < 25; look += 1) {
      await wait(200);
      expect(all.filter(({ election }) => election.isLeader())).toEqual([leader]);
    }
    expect(leader?.terms).toHaveLength(1);
    expect(leader?.terms[0]?.aborted).toBe(false);
  });

  test('a leader that stops releases the lease, and the next one does not wait for its expiry', async () => {
    const first = stand('given-back', 'first');
    await vi.waitFor(() => expect(first.election.isLeader()).toBe(true), PATIENCE_MS);
    await using second = stand('given-back', 'second');
    await wait(500);
    const stoppedAt = performance.now();
    await first[Symbol.asyncDispose]();
    expect(first.terms[0]?.aborted).toBe(true);
    expect(first.election.isLeader()).toBe(false);
    await vi.waitFor(() => expect(second.election.isLeader()).toBe(true), PATIENCE_MS);
    expect(performance.now() - stoppedAt).toBeLessThan(1_500);
    expect(await leaseOf('given-back')).toMatchObject({ holderIdentity: 'second' });
  });

  test('work that goes on after the term keeps the lease from being given back', async () => {
    const busy = stand('busy', 'busy', admin, { lead: () => new Promise(() => {}) });
    await vi.waitFor(() => expect(busy.election.isLeader()).toBe(true), PATIENCE_MS);
    await busy[Symbol.asyncDispose]();
    expect(await leaseOf('busy')).toMatchObject({ holderIdentity: 'busy' });
  });

  test('a leader that is cut off stops before another one starts', async () => {
    await using proxy = await startTcpProxy(portOf(server));
    using cutOff = new KubeClient(() => accessAt(server, proxy.port), {
      userAgent: 'test',
      limits: { connectTimeoutMs: 500 },
    });
    await using first = stand('cut-off', 'first', cutOff);
    await vi.waitFor(() => expect(first.election.isLeader()).toBe(true), PATIENCE_MS);
    await using second = stand('cut-off', 'second');
    await wait(500);
    proxy.hold();
    let bothLead = 0;
    await vi.waitFor(
      () => {
        bothLead += Number(first.election.isLeader() && second.election.isLeader());
        expect(second.election.isLeader()).toBe(true);
      },
      { timeout: PATIENCE_MS, interval: 10 },
    );
    expect(bothLead).toBe(0);
    expect(first.terms[0]?.aborted).toBe(true);
    expect(first.troubles.length).toBeGreaterThan(0);
    proxy.release();
    await wait(1_000);
    expect(first.election.isLeader()).toBe(false);
    expect(await leaseOf('cut-off')).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  test('a process that was suspended is not leader when it resumes', async () => {
    let sleptMs = 0;
    const timing = { ...SYSTEM_TIMING, nowMs: () => performance.now() + sleptMs };
    using sleepy = clientOf(server, { timing });
    await using candidate = stand('sleepy', 'sleepy', sleepy);
    await vi.waitFor(() => expect(candidate.election.isLeader()).toBe(true), PATIENCE_MS);
    sleptMs = 3_100;
    expect(candidate.election.isLeader()).toBe(false);
    await vi.waitFor(() => expect(candidate.terms).toHaveLength(2), PATIENCE_MS);
    expect(candidate.terms.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test('a renewal whose answer is lost does not end the term', async () => {
    await using proxy = await startTcpProxy(portOf(server));
    using client = new KubeClient(() => accessAt(server, proxy.port), { userAgent: 'test' });
    await using candidate = stand('lost-answer', 'me', client);
    await vi.waitFor(() => expect(candidate.election.isLeader()).toBe(true), PATIENCE_MS);
    for (let round = 0; round < 3; round += 1) {
      proxy.hold('answers');
      await wait(400);
      proxy.cut();
      proxy.release();
      await wait(2_000);
    }
    expect(candidate.election.isLeader()).toBe(true);
    expect(candidate.terms).toHaveLength(1);
  });
});
