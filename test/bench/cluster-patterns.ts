import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ms, printTable } from './report.ts';
import { median } from './statistics.ts';

const AGENTS = 5;
const LIMIT_MS = 10;

/** How long an ADD with 10 + 10 patterns among 2,000 pools keeps all other calls of its agent waiting. */
export async function benchPatterns(): Promise<void> {
  const first: number[] = [];
  const later: number[] = [];
  const atOnce: number[] = [];
  const waiters: number[] = [];
  for (let agent = 0; agent < AGENTS; agent += 1) {
    const { single, ...crowd } = await measureAgent();
    const [start = Number.NaN, ...rest] = single;
    first.push(start);
    later.push(...rest);
    atOnce.push(crowd.atOnce);
    waiters.push(crowd.waiters);
  }
  const line = (what: string, values: readonly number[]) => ({
    what,
    value: `${ms(Math.max(...values))} (median ${ms(median(values))})`,
    limit: `under ${LIMIT_MS} ms`,
    isMet: Math.max(...values) < LIMIT_MS,
  });
  printTable(
    `ADD with 10 + 10 patterns and 2,000 pools, ${AGENTS} agents: the longest turn of the event loop (CPU time)`,
    [
      line('the first ADD after a start', first),
      line('later ADDs', later),
      line('12 ADDs at once, all patterns different', atOnce),
      line('two changes of the pools while 12 calls wait', waiters),
    ],
  );
}

interface Longest {
  readonly single: readonly number[];
  readonly atOnce: number;
  readonly waiters: number;
}

async function measureAgent(): Promise<Longest> {
  const child = fork(join(import.meta.dirname, 'cluster-patterns-agent.ts'));
  const gone = new AbortController();
  child.once('exit', () => gone.abort(new Error('the agent ended')));
  const [longest] = await once(child, 'message', { signal: gone.signal });
  return longest;
}
