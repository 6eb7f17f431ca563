import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Term } from '#controller/reconcile/leader-task.ts';
import { SPIDERPOOL } from '#pkg/adopt/spiderpool.ts';
import { LegacyApi } from '#test/support/legacy-api.ts';
import { AdoptionGate } from './adoption.ts';

let api: LegacyApi;
let term: AbortController;
let lines: { msg: string }[];

beforeEach(async () => {
  api = await LegacyApi.start();
  term = new AbortController();
  lines = [];
});

afterEach(async () => {
  term.abort();
  await api[Symbol.asyncDispose]();
});

function runBehindGate() {
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const gate = new AdoptionGate({
    client: api.client,
    podNamespace: 'ipledger',
    podName: 'c-1',
    log,
    now: () => new Date(0),
    source: SPIDERPOOL,
    advice: 'run ipledgerctl import',
  });
  const run = vi.fn(async () => {});
  // The gate reads no view: a task behind it does.
  const during = { signal: term.signal, mayWrite: () => true } as Term;
  return { run, done: gate.behind({ name: 'task', run }).run(during) };
}

test('a cluster that has never seen Spiderpool is marked at once, with no right but to look', async () => {
  const { run, done } = runBehindGate();
  await done;
  expect([run.mock.calls.length, api.isMarked]).toEqual([1, true]);
  expect(api.asked).not.toContain('POST subjectaccessreviews');
});

test.each([{ mayWrite: true }, { mayWrite: false }])(
  'an account of Spiderpool is for an operator to judge, though nothing is given out: $mayWrite',
  async ({ mayWrite }) => {
    api.accounts = [{ namespace: 'kube-system', name: 'spiderpool-controller', mayWrite }];
    const { run, done } = runBehindGate();
    await vi.waitUntil(() => lines.length > 0 || api.isMarked, 10_000);
    expect([run.mock.calls.length, api.isMarked]).toEqual([0, false]);
    expect(lines).toMatchObject([
      { msg: expect.stringContaining('ipledgerctl import'), accounts: ['kube-system/spiderpool-controller'] },
    ]);
    term.abort();
    await done;
    expect(run).not.toHaveBeenCalled();
  },
);
