import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { PoolSpaces } from './pool-spaces.ts';
import type { Unserved } from './unserved.ts';

type Enqueue = (key: string) => void;

interface LineDeps {
  readonly unserved: Unserved;
  readonly spaces: PoolSpaces;
  readonly factsOf: (pool: string) => PoolFacts | null;
}

/** Whoever leaves the line, a deleted object too, lets the next one in. `stays`: the pool whose line it goes on waiting in. */
export function leaveLine(key: string, stays: string | null, deps: LineDeps, enqueue: Enqueue): void {
  const left = deps.unserved.remove(key);
  if (left !== null && left !== stays) wakeLine(left, deps, enqueue);
}

/** As many as there are free addresses, the oldest first. */
export function wakeLine(pool: string, { factsOf, spaces, unserved }: LineDeps, enqueue: Enqueue): void {
  const facts = factsOf(pool);
  if (facts !== null) unserved.first(pool, spaces.freeCount(facts)).forEach(enqueue);
}
