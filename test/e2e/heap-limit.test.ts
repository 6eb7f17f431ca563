import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { makeMemoryCgroup } from '#test/support/memory-cgroup.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { runProgram } from '#test/support/run-program.ts';

const POOLS = { 'p.yaml': poolYaml('small', { subnet: '10.24.0.0/24', ips: ['10.24.0.10-10.24.0.13'] }) };
/** The heap of V8 is a little larger than its space for old objects. */
const YOUNG_MB = 32;

async function heapOf(under: readonly string[]): Promise<number> {
  await using agent = await startAgent({ pools: POOLS, under });
  const line = agent.log.split('\n').find((it) => it.includes('agent starting')) ?? '{}';
  const { heapMb } = JSON.parse(line) as { heapMb?: number };
  await agent.stop();
  return heapMb ?? Number.NaN;
}

test('the heap follows the memory limit of the cgroup, and a variable comes first', async () => {
  await using cgroup = await makeMemoryCgroup(300 << 20);
  const byLimit = await heapOf(cgroup.under);
  expect(byLimit).toBeGreaterThanOrEqual(195);
  expect(byLimit).toBeLessThan(195 + YOUNG_MB);
  const asked = await heapOf([...cgroup.under, 'env', 'IPLEDGER_HEAP_MB=120']);
  expect(asked).toBeGreaterThanOrEqual(120);
  expect(asked).toBeLessThan(120 + YOUNG_MB);
});

test.each(['ipledger-agent', 'ipledger-controller'] as const)(
  '%s refuses a heap that is no number',
  async (program) => {
    const env = { ...launchEnvironment(), SPIDERPOOL_HEAP_MB: 'large' };
    const { code, stderr } = await runProgram(await builtPath(program), ['--standalone'], { env, timeoutMs: 15_000 });
    expect(code).toBe(1);
    expect(stderr).toContain('SPIDERPOOL_HEAP_MB: expected a whole number from 32 to 65536');
  },
);
