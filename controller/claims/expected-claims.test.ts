import { expect, test } from 'vitest';
import { ExpectedClaims } from './expected-claims.ts';

const claimAt = (name: string, minute: number, namespace = 'prod', pool = 'lab') => ({
  key: `${namespace}/${name}`,
  namespace,
  pool,
  cluster: 'blue',
  createdAt: `2026-11-18T16:${String(minute).padStart(2, '0')}:00Z`,
  untilMs: Date.UTC(2026, 10, 18, 16, minute + 10),
});

test('the two youngest of each namespace and pool are told, in any order of arrival, and those that are left when one goes', () => {
  const claims = new ExpectedClaims();
  for (const minute of [3, 1, 4, 2]) claims.add(claimAt(`vm-${minute}`, minute));
  claims.add(claimAt('vm-9', 9, 'dev'));
  claims.add(claimAt('vm-8', 8, 'prod', 'other'));
  claims.add(claimAt('vm-4', 4));
  const keys = (pool = 'lab') => claims.youngest(pool).map(({ key }) => key);
  expect(keys()).toEqual(['prod/vm-3', 'prod/vm-4', 'dev/vm-9']);
  claims.remove('prod/vm-4');
  claims.remove('dev/vm-9');
  expect(keys()).toEqual(['prod/vm-2', 'prod/vm-3']);
  expect([claims.has('prod/vm-4'), claims.has('prod/vm-1'), keys('other'), keys('none')]).toEqual([
    false,
    true,
    ['prod/vm-8'],
    [],
  ]);
});
