import { expect, test } from 'vitest';
import { matchesAmong } from '#pkg/pool/pattern-matches.ts';
import { buildPool, buildRequest } from '#test/support/build-pool.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { PatternSearch } from './pattern-search.ts';

const findPatterns = (...args: Parameters<PatternSearch['find']>) => new PatternSearch().find(...args);
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

test('of many calls one searches at a time', async () => {
  const patterns = new PatternSearch();
  const requests = [1, 2, 3].map((at) => buildRequest({ cniConfig: { ipv4: [`a-${at}*`] } }));
  const all = () => Promise.all(requests.map((request) => patterns.find(request, POOLS))).then(() => {});
  expect(await countTurns(all)).toBe(6);
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

test('what 12 calls with 20 patterns each find at the same time is there when they plan, and after the pools have changed', async () => {
  const pools = Array.from({ length: 100 }, (_, at) => buildPool({ name: `many-${at}` }));
  const patternsOf = (call: number) => Array.from({ length: 20 }, (_, at) => `m*-${call}${at}`);
  const calls = Array.from({ length: 12 }, (_, call) => patternsOf(call));
  const search = new PatternSearch();
  await Promise.all(
    calls.map((patterns) =>
      search.find(buildRequest({ cniConfig: { ipv4: patterns.slice(0, 10), ipv6: patterns.slice(10) } }), pools),
    ),
  );
  const stillToSearch = (among: typeof pools) =>
    calls.flatMap((patterns) => patterns.slice(0, 10).flatMap((it) => [...matchesAmong(among).search(it, 4)]));
  expect(stillToSearch(pools)).toEqual([]);
  matchesAmong([...pools, buildPool({ name: 'new-1' })]);
  expect(stillToSearch([...pools, buildPool({ name: 'new-2' })])).toEqual([]);
});
