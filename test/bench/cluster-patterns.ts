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
  for (let agent = 0; agent < AGENTS; agent += 1) {
    const [start = Number.NaN, ...rest] = await measureAgent();
    first.push(start);
    later.push(...rest);
  }
  const line = (what: string, values: readonly number[]) => ({
    what,
    value: `${ms(Math.max(...values))} (median ${ms(median(values))})`,
    limit: `under ${LIMIT_MS} ms`,
    isMet: Math.max(...values) < LIMIT_MS,
  });
  printTable(
    `ADD with 10 + 10 patterns and 2,000 pools, ${AGENTS} agents: the longest turn of the event loop (CPU time)`,
    [line('the first ADD after a start', first), line('later ADDs', later)],
  );
}

async function measureAgent(): Promise<number[]> {
  const child = fork(join(import.meta.dirname, 'cluster-patterns-agent.ts'));
  const gone = new AbortController();
  child.once('exit', () => gone.abort(new Error('the agent ended')));
  const [longest] = await once(child, 'message', { signal: gone.signal });
  return longest;
}
