import { setImmediate as turn } from 'node:timers/promises';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { askedPools, isPattern } from '#pkg/pool/asked-pools.ts';
import { matchesAmong } from '#pkg/pool/pattern-matches.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';

const LONGEST_STEP_MS = 4;
const MOST_PATTERNS = 20;

/** One search at a time: the steps of many that have their turn together would be one long step. */
export class PatternSearch {
  #last: Promise<void> = Promise.resolve();

  async find(request: PoolRequest, pools: readonly Pool[]): Promise<void> {
    this.#last = this.#last.then(() => findPatterns(request, pools));
    await this.#last;
  }
}

/**
 * Holds the patterns that a tenant wrote against the names of all pools, before the call is planned: each plan is made in one go,
 * and with two thousand pools that search alone would keep all other calls waiting for a tenth of a second. What is found stays
 * known as long as the call may plan: a change of the pools leaves only the new names to be searched.
 */
async function findPatterns(request: PoolRequest, pools: readonly Pool[]): Promise<void> {
  await turn();
  try {
    await search(patternsOf(request), pools);
  } catch (thrown) {
    // What is wrong with a request is for the plan to say: it knows which annotation the fault is in.
    if (!(thrown instanceof IpamError)) throw thrown;
  }
  // What comes before and after takes some milliseconds too, the first time.
  await turn();
}

async function search(patterns: readonly [Family, string][], pools: readonly Pool[]): Promise<void> {
  let stepFromMs = performance.now();
  for (const [family, pattern] of patterns) {
    for (const _ of matchesAmong(pools).search(pattern, family)) {
      if (performance.now() - stepFromMs < LONGEST_STEP_MS) continue;
      await turn();
      stepFromMs = performance.now();
    }
  }
}

function patternsOf(request: PoolRequest): [Family, string][] {
  const asked = askedPools(request);
  if (asked === null) return [];
  const all: [Family, string][] = [
    ...asked.v4.names.map((name): [Family, string] => [4, name]),
    ...asked.v6.names.map((name): [Family, string] => [6, name]),
  ];
  return all.filter(([, name]) => isPattern(name)).slice(0, MOST_PATTERNS);
}
