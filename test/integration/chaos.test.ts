import { expect, onTestFailed, test } from 'vitest';
import { runChaos } from '#test/chaos/run-chaos.ts';

/** What a short run does at least, however slow the machine is; `npm run chaos` is the long one. */
const AT_LEAST = { adds: 11, addsFromSubnet: 1, changedAsks: 1, claims: 1, allocations: 1, looks: 11 };

test('most of a minute of chaos: no address is used twice or lost, and afterwards everything is in order', {
  timeout: 900_000,
}, async () => {
  const lines: string[] = [];
  onTestFailed(() => void process.stderr.write(`${lines.join('\n')}\n`));
  const seed = 20_261_116;
  const outcome = await runChaos({
    seed,
    seconds: 45,
    atLeast: AT_LEAST,
    settleSeconds: 180,
    say: (line) => lines.push(line),
  });
  expect(outcome.complaints.join('\n\n')).toBe('');
  // The run did inject faults.
  for (const [name, least] of Object.entries(AT_LEAST)) {
    expect(outcome[name as keyof typeof AT_LEAST], name).toBeGreaterThanOrEqual(least);
  }
  const kinds = [...outcome.faults.keys()];
  expect(kinds).toEqual(expect.arrayContaining(['records deleted', 'etcd restored', 'main plugin missing']));
});
