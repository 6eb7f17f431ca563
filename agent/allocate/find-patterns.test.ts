import { expect, test } from 'vitest';
import { buildPool, buildRequest } from '#test/support/build-pool.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { findPatterns } from './find-patterns.ts';

const POOLS = ['a-1', 'a-2', 'b-1'].map((name) => buildPool({ name }));

/** How often others had their turn until `work` was done. */
async function countTurns(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    if (isDone) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

test('others have a turn before the search and another one before the plan, however short the search is', async () => {
  const request = buildRequest({ cniConfig: { ipv4: ['a-*'] } });
  expect(await countTurns(() => findPatterns(request, POOLS))).toBe(2);
  expect(await countTurns(() => findPatterns(request, POOLS))).toBe(2);
});

test.each(['a-[x*', '["a-[x*"'])('what is wrong with a pattern is left to the plan: %s', async (ippool) => {
  const annotations = { 'ipam.spidernet.io/ippool': `{"ipv4": ["${ippool}"]}` };
  await expect(findPatterns(buildRequest({ pod: { annotations } }), POOLS)).resolves.toBeUndefined();
});

test.each([
  { pools: 100, turns: 0 },
  { pools: 101, turns: 1 },
])('others have $turns turns between the plan of $pools pools and the first create', async ({ pools, turns }) => {
  await using memory = await startMemoryAgent(
    Array.from({ length: pools }, (_, at) =>
      buildPool({ name: `p-${at}`, subnet: `10.0.${at}.0/24`, isDefault: true }),
    ),
  );
  expect(await countTurns(async () => void (await memory.agent.add(addArgs('c'), newCall())))).toBe(turns);
});
