import { expect, test } from 'vitest';
import { mapAtMost } from './map-at-most.ts';

test('results are in the order of the items, and no more than allowed are under way', async () => {
  let underWay = 0;
  let most = 0;
  const work = async (item: number) => {
    underWay += 1;
    most = Math.max(most, underWay);
    for (let turns = 0; turns < 10 - item; turns += 1) await null;
    underWay -= 1;
    return item * 2;
  };
  expect(await mapAtMost(3, [1, 2, 3, 4, 5, 6, 7], work)).toEqual([2, 4, 6, 8, 10, 12, 14]);
  expect(most).toBe(3);
});

test('an error is the answer', async () => {
  const work = (item: number) => (item === 2 ? Promise.reject(new Error('two')) : Promise.resolve(item));
  await expect(mapAtMost(1, [1, 2, 3], work)).rejects.toThrow('two');
  expect(await mapAtMost(2, [], work)).toEqual([]);
});
