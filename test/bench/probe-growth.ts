import { join } from 'node:path';
import { runProgram } from '#test/support/run-program.ts';
import { printTable } from './report.ts';

const PROBES = 2_000;
/** The flags of the agent's launcher. */
const FLAGS = ['--max-semi-space-size=2', '--max-old-space-size=256'];

export interface Growth {
  readonly early: { readonly descriptors: number; readonly rssMb: number };
  readonly late: { readonly descriptors: number; readonly rssMb: number };
  readonly mostDescriptors: number;
}

export async function benchProbeGrowth(): Promise<void> {
  const program = join(import.meta.dirname, 'probe-growth-run.ts');
  const { code, stdout, stderr } = await runProgram(process.execPath, [...FLAGS, program, `${PROBES}`], {
    env: { ...process.env, MALLOC_ARENA_MAX: '2' } as Record<string, string>,
    timeoutMs: 300_000,
  });
  if (code !== 0) throw new Error(stderr);
  const { early, late, mostDescriptors }: Growth = JSON.parse(stdout);
  printTable(`Growth over ${PROBES} probes, after as many to warm up`, [
    {
      what: 'descriptors',
      value: `${early.descriptors} → ${late.descriptors}, at most ${mostDescriptors}`,
      limit: 'no growth',
      isMet: late.descriptors <= early.descriptors,
    },
    {
      what: 'RSS',
      value: `${early.rssMb.toFixed(1)} → ${late.rssMb.toFixed(1)} MB`,
      against: `${(late.rssMb / early.rssMb).toFixed(3)} ×`,
      limit: '1.05 ×',
      isMet: late.rssMb / early.rssMb <= 1.05,
    },
  ]);
}
