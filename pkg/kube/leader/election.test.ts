import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { Election, type ElectionOptions, type ElectionTrouble } from './election.ts';

const PACE = { leaseMs: 1_000, renewDeadlineMs: 400, retryMs: 50 };

const META = { namespace: 'n', name: 'l', uid: 'u' };

/** One lease, in an API server that can be made to fail. */
async function stand({
  before = '',
  ...options
}: Pick<ElectionOptions, 'lead'> & Partial<ElectionOptions> & { readonly before?: string }) {
  let lease: { metadata: { resourceVersion: string }; spec: { holderIdentity: string } } | null = null;
  let version = 100;
  const state = {
    isBroken: false,
    refusals: 0,
    /** Replaces the lease by one that is older: holder '' for none at all. */
    restore: (holderIdentity: string) => {
      version -= 10;
      const spec = { holderIdentity, leaseDurationSeconds: 1, leaseTransitions: 0 };
      lease = holderIdentity === '' ? null : { metadata: { ...META, resourceVersion: String(version) }, spec };
    },
    holder: () => lease?.spec.holderIdentity,
  };
  if (before !== '') {
    version += 10;
    state.restore(before);
  }
  const made = await startScripted(({ method, body, answer }) => {
    if (state.isBroken) return answer(500, '');
    if (state.refusals > 0) {
      state.refusals -= 1;
      return answer(403, statusBody(403, 'Forbidden'));
    }
    if (method !== 'GET') {
      const sent = JSON.parse(body);
      const expected = sent.metadata.resourceVersion ?? '';
      if (expected !== (lease?.metadata.resourceVersion ?? '')) return answer(409, statusBody(409, 'Conflict'));
      version += 1;
      lease = { ...sent, metadata: { ...META, resourceVersion: String(version) } };
    }
    if (lease === null) return answer(404, statusBody(404, 'NotFound', { name: 'l', kind: 'leases' }));
    answer(200, lease);
  });
  const troubles: ElectionTrouble[] = [];
  const election = new Election(made.client, {
    namespace: 'n',
    name: 'l',
    identity: 'me',
    now: () => new Date(),
    pace: PACE,
    onTrouble: (trouble) => void troubles.push(trouble),
    ...options,
  });
  const stop = async () => {
    await election[Symbol.asyncDispose]();
    await made[Symbol.asyncDispose]();
  };
  return { state, election, troubles, server: made.server, [Symbol.asyncDispose]: stop };
}

test('a new term waits until the work of the old one has ended', async () => {
  const work: (() => void)[] = [];
  let atWork = 0;
  let most = 0;
  await using made = await stand({
    lead: async () => {
      atWork += 1;
      most = Math.max(most, atWork);
      await new Promise<void>((resolve) => void work.push(resolve));
      atWork -= 1;
    },
  });
  const { state, election, server } = made;
  await vi.waitFor(() => expect(election.isLeader()).toBe(true), 20_000);
  state.isBroken = true;
  await vi.waitFor(() => expect(election.isLeader()).toBe(false), 20_000);
  state.isBroken = false;
  const sent = server.requests.length;
  await wait(400);
  expect(election.isLeader()).toBe(false);
  expect(server.requests.length - sent).toBeLessThanOrEqual(1); // others may have the lease
  work[0]?.();
  await vi.waitFor(() => expect(election.isLeader()).toBe(true), 20_000);
  expect(work).toHaveLength(2);
  expect(most).toBe(1);
  work[1]?.();
});

test.each<{ name: string; fail: () => Promise<void> }>([
  { name: 'rejects', fail: async () => Promise.reject(new Error('the work failed')) },
  {
    name: 'throws',
    fail: () => {
      throw new Error('the work failed');
    },
  },
])('work that $name is told as trouble, and ends the term: another one follows, not at once', async ({ fail }) => {
  const terms: AbortSignal[] = [];
  await using made = await stand({
    lead: (term) => {
      terms.push(term);
      return terms.length === 1 ? fail() : Promise.resolve();
    },
    // A slow machine must not look like an API server that is away.
    pace: { leaseMs: 60_000, renewDeadlineMs: 40_000, retryMs: 50 },
  });
  await vi.waitFor(() => expect(terms).toHaveLength(2), 20_000);
  expect(made.troubles).toEqual([{ during: 'lead', thrown: new Error('the work failed') }]);
  expect(terms.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(made.election.isLeader()).toBe(true);
});

test('a right that comes a moment late is waited for, without a word', async () => {
  const pace = { leaseMs: 60_000, renewDeadlineMs: 40_000, retryMs: 50 };
  await using made = await stand({ lead: async () => {}, pace });
  await vi.waitFor(() => expect(made.election.isLeader()).toBe(true), 10_000);
  made.state.refusals = 3;
  await vi.waitFor(() => expect(made.state.refusals).toBe(0), 10_000);
  const sent = made.server.requests.length;
  await vi.waitFor(() => expect(made.server.requests.length).toBeGreaterThan(sent), 10_000);
  expect(made.election.isLeader()).toBe(true);
  expect(made.troubles).toEqual([]);
});

test('a handler of trouble that throws does not end the election', async () => {
  await using made = await stand({
    lead: async () => {},
    onTrouble: () => {
      throw new Error('the handler is broken');
    },
  });
  made.state.isBroken = true;
  await wait(700);
  made.state.isBroken = false;
  await vi.waitFor(() => expect(made.election.isLeader()).toBe(true), 20_000);
});

test('a leader whose lease was set back with etcd starts a new term, and says why', async () => {
  const terms: AbortSignal[] = [];
  const onRestored = vi.fn();
  await using made = await stand({ lead: async (term) => void terms.push(term), onRestored });
  await vi.waitFor(() => expect(terms).toHaveLength(1), 20_000);
  await wait(200);
  made.state.restore('me');
  await vi.waitFor(() => expect(terms).toHaveLength(2), 20_000);
  expect(terms.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(onRestored).toHaveBeenCalledOnce();
  await wait(300);
  expect(terms).toHaveLength(2);
});

test.each([
  { name: 'names this candidate', holder: 'me' },
  { name: 'is gone', holder: '' },
])('a lease that was set back and $name does not end the claim of who led a moment ago', async ({ holder }) => {
  const pace = { leaseMs: 1_000, renewDeadlineMs: 400, retryMs: 50 };
  await using made = await stand({ lead: async () => {}, pace, before: 'other' });
  await wait(300);
  made.state.restore(holder);
  const restoredAt = performance.now();
  await wait(600);
  expect(made.election.isLeader()).toBe(false);
  expect(made.state.holder() ?? '').toBe(holder);
  await vi.waitFor(() => expect(made.election.isLeader()).toBe(true), 20_000);
  expect(performance.now() - restoredAt).toBeLessThan(3_000);
});
