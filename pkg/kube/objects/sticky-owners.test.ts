import { expect, test } from 'vitest';
import { isOrdinalIn, isWantedVmi, wantedOrdinals } from './sticky-owners.ts';

const METADATA = { name: 'web', uid: 's-1', resourceVersion: '1' };

test.each<{ name: string; spec: object | undefined; wanted: readonly number[] }>([
  { name: 'from zero', spec: { replicas: 3 }, wanted: [0, 1, 2] },
  { name: 'one where nothing is said', spec: {}, wanted: [0] },
  { name: 'one without a spec', spec: undefined, wanted: [0] },
  { name: 'none when scaled to zero', spec: { replicas: 0 }, wanted: [] },
  { name: 'from its start', spec: { replicas: 2, ordinals: { start: 3 } }, wanted: [3, 4] },
])('a StatefulSet wants ordinals $name', ({ spec, wanted }) => {
  const range = wantedOrdinals({ metadata: METADATA, spec });
  expect(range).not.toBeNull();
  expect([0, 1, 2, 3, 4, 5].filter((ordinal) => range !== null && isOrdinalIn(ordinal, range))).toEqual(wanted);
});

test('replicas that are no number say nothing', () => {
  expect(wantedOrdinals({ metadata: METADATA, spec: { replicas: '3' } })).toBeNull();
});

test('a VMI that is being deleted is not wanted', () => {
  expect(isWantedVmi({ metadata: METADATA })).toBe(true);
  expect(isWantedVmi({ metadata: { ...METADATA, deletionTimestamp: '2026-11-16T10:00:00Z' } })).toBe(false);
});
