import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const POINTS = 19;

test('each of the nineteen points in which we read Vitistack has a test of that number on a real API server', () => {
  const file = join(import.meta.dirname, '../integration/vitistack-points.test.ts');
  const named = [...readFileSync(file, 'utf8').matchAll(/^test\('point (\d+): /gm)].map(([, number]) => Number(number));
  expect(named).toEqual(Array.from({ length: POINTS }, (_, index) => index + 1));
});
