import { expect, test } from 'vitest';
import { testNamesIn } from './test-names.ts';

const FILE = `
test('plain', () => {});
test.each([1, 2])('rows on one line: %d', () => {});
test.each(ROWS.map((row) => ({ row })))(
  'rows from elsewhere: $row', () => {});
describe("what isn't simple", () => {
  test.each<{ name: string }>([
    { name: 'a row' },
  ])('$name', () => {});
  test.for([['a row']] as const)('for %s', () => {});
});
test.for([
  ['a row', 1],
] as const)(
  'on the next line: %s',
  () => {},
);
test.skip('skipped', () => {});
test.todo('later');
// test('commented out', () => {});
call('no test', () => {});
`;

test('names of tests and groups are found with their depth, and nothing that does not run', () => {
  expect(testNamesIn(FILE)).toEqual([
    { name: 'plain', depth: 0 },
    { name: 'rows on one line: %d', depth: 0 },
    { name: 'rows from elsewhere: $row', depth: 0 },
    { name: "what isn't simple", depth: 0 },
    { name: '$name', depth: 1 },
    { name: 'for %s', depth: 1 },
    { name: 'on the next line: %s', depth: 0 },
  ]);
});
