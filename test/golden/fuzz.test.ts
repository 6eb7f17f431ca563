import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtPath } from '#test/support/built.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A short run; `npm run fuzz` runs 100,000 cases of each kind. */
test.each([
  { name: 'in one process', count: '10000', isReplay: true },
  { name: 'as a process each', count: '500', isReplay: false },
])('hostile stdins and hostile answers, $count of each, $name', { timeout: 600_000 }, async ({ count, isReplay }) => {
  await builtPath('native/ipledger');
  const replay = isReplay ? ['--replay', await buildReplay()] : [];
  const args = [join(ROOT, 'test/chaos/fuzz-plugin.ts'), '--seed', '3', '--count', count, ...replay];
  const { code, stdout, stderr } = await runProgram(process.execPath, args, { timeoutMs: 600_000 });
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
});

async function buildReplay(): Promise<string> {
  const output = await mustRun(join(ROOT, 'hack/build-plugin'), '--example', 'replay');
  return output.trim().split('\n').at(-1) ?? '';
}
