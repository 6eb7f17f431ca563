import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { findStoredProblems } from './record-problems.ts';
import { toRetained } from './released-spec.ts';

const record = buildRecord();
const pool = buildPool();
const pools = {
  pools: new Map([[record.spec.pool.name, pool]]),
  reserved: { 4: IntervalSet.of([]), 6: IntervalSet.of([]) },
};
const inState = (state: 'Allocated' | 'Retained' | 'Suspect') => ({ ...record, spec: { ...record.spec, state } });

test.each([
  { name: 'Allocated', given: inState('Allocated'), kinds: [] },
  { name: 'Suspect', given: inState('Suspect'), kinds: ['in-doubt'] },
  { name: 'Retained, its sandbox not proven gone', given: inState('Retained'), kinds: ['in-doubt'] },
  { name: 'Retained after a DEL', given: { ...record, spec: toRetained(record.spec) }, kinds: [] },
])('a record that is $name', ({ given, kinds }) => {
  expect(findStoredProblems([given], pools, () => 'the holder').map(({ kind }) => kind)).toEqual(kinds);
});
