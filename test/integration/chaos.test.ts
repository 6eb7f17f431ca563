import { expect, onTestFailed, test } from 'vitest';
import { runChaos } from '#test/chaos/run-chaos.ts';

/** A short run; `npm run chaos` is the long one. */
test('most of a minute of chaos: no address is used twice or lost, and afterwards everything is in order', {
  timeout: 400_000,
}, async () => {
  const lines: string[] = [];
  onTestFailed(() => void process.stderr.write(`${lines.join('\n')}\n`));
  const seed = 20_261_116;
  const outcome = await runChaos({ seed, seconds: 45, settleSeconds: 180, say: (line) => lines.push(line) });
  expect(outcome.complaints.join('\n\n')).toBe('');
  // The run did inject faults.
  expect(outcome.adds).toBeGreaterThan(10);
  expect(outcome.claims).toBeGreaterThan(0);
  expect(outcome.allocations).toBeGreaterThan(0);
  expect(outcome.looks).toBeGreaterThan(10);
  const kinds = [...outcome.faults.keys()];
  expect(kinds).toEqual(expect.arrayContaining(['records deleted', 'etcd restored', 'main plugin missing']));
});
