import { expect, test } from 'vitest';
import { readTestNames } from './test-names.ts';

const POINTS = 19;

test('each of the nineteen points in which we read Vitistack has a test of that number on a real API server', () => {
  const names = readTestNames('test/integration/vitistack-points.test.ts').map(({ name }) => name);
  const numbers = names.flatMap((name) => /^point (\d+): /.exec(name)?.slice(1).map(Number) ?? []);
  expect(numbers).toEqual(Array.from({ length: POINTS }, (_, index) => index + 1));
});
