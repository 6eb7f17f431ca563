import { expect, test } from 'vitest';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { expectFailure } from '#test/contract/ledger-resource.ts';
import { startScripted } from '#test/support/scripted-client.ts';
import { openScriptedLedger } from '#test/support/scripted-kubernetes-ledger.ts';
import type { Script } from '#test/support/scripted-server.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { RecordReader } from './kubernetes-reader.ts';

/** One address on each page of a pool; the continue token is the number of the page. */
const tableOf = (page: number, pages: number) => ({
  kind: 'Table',
  metadata: { resourceVersion: '9', ...(page + 1 < pages ? { continue: String(page + 1) } : {}) },
  columnDefinitions: page === 0 ? ['Name', 'POOL', 'STATE'].map((name) => ({ name })) : null,
  rows: [{ cells: [`10.0.0.${page + 1}`, 'pool-a', 'Allocated'] }],
});

const inPages =
  (pages: number, beforeAnswer: (page: number, answer: () => void) => void): Script =>
  ({ query, answer }) => {
    const page = Number(query.get('continue') ?? 0);
    beforeAnswer(page, () => answer(200, tableOf(page, pages)));
  };

test('the pages of a large pool may take longer together than one try of any other read', async () => {
  const script = inPages(10, (_page, answer) => void setTimeout(answer, 500));
  await using made = await openScriptedLedger(script, { timeoutMs: 4_000, attemptTimeoutMs: 3_000 });
  expect(await made.ledger.takenOf('pool-a')).toHaveLength(10);
});

test('a page that does not come is waited for no longer than the answer of any other read', async () => {
  const script = inPages(3, (page, answer) => (page === 0 ? answer() : undefined));
  await using made = await openScriptedLedger(script, { timeoutMs: 1_000, attemptTimeoutMs: 400 });
  const startedAtMs = performance.now();
  await expectFailure(made.ledger.takenOf('pool-a'), 'api-server-unavailable');
  expect(performance.now() - startedAtMs).toBeLessThan(15_000);
});

test('pages that come without end are read for a minute, and no longer', async () => {
  const clock = turnedClock();
  const script = inPages(1_000, (_page, answer) => {
    clock.turn(1_000);
    answer();
  });
  await using made = await startScripted(script, { timing: { ...SYSTEM_TIMING, nowMs: clock.nowMs } });
  const reader = new RecordReader(made.client, { timeoutMs: 10_000, attemptTimeoutMs: 5_000 });
  await expectFailure(reader.table('pool-a'), 'api-server-unavailable');
  expect(made.server.requests.length).toBeGreaterThan(10);
  expect(made.server.requests.length).toBeLessThanOrEqual(61);
});
