import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { PoolSpaces } from './pool-spaces.ts';
import type { Unserved } from './unserved.ts';

type Enqueue = (key: string) => void;

interface LineDeps {
  readonly unserved: Unserved;
  readonly spaces: PoolSpaces;
  readonly factsOf: (pool: string) => PoolFacts | null;
}

/** An object that leaves the line, also by its deletion, lets the next one in. `stays`: the pool in whose line it keeps waiting. */
export function leaveLine(key: string, stays: string | null, deps: LineDeps, enqueue: Enqueue): void {
  const left = deps.unserved.remove(key);
  if (left !== null && left !== stays) wakeLine(left, deps, enqueue);
}

/** If the attempt fails, it is made again later, and meanwhile those behind the object are served. */
export async function leaveLineOnFailure<T>(
  key: string,
  deps: LineDeps,
  enqueue: Enqueue,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (thrown) {
    leaveLine(key, null, deps, enqueue);
    throw thrown;
  }
}

/** As many as there are free addresses, the oldest first. */
export function wakeLine(pool: string, { factsOf, spaces, unserved }: LineDeps, enqueue: Enqueue): void {
  const facts = factsOf(pool);
  if (facts !== null) unserved.first(pool, spaces.freeCount(facts)).forEach(enqueue);
}
