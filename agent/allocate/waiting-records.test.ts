import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { waitingFor } from './waiting-records.ts';

const A = buildPool({ name: 'a', subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.19'] });
const B = buildPool({ name: 'b', subnet: '10.1.0.0/24', ips: ['10.1.0.10-10.1.0.19'] });

const record = (address: string, state: 'Retained' | 'Suspect' | 'Allocated' | 'Cooling', pool: string) =>
  buildRecord({ address, state, pool: { kind: 'SpiderIPPool', name: pool, uid: `uid-of-${pool}` } });

test.each([
  {
    name: 'one of a pool that is no candidate is left out',
    pools: [B],
    listed: [record('10.0.0.10', 'Retained', 'a'), record('10.1.0.10', 'Retained', 'b')],
    expected: ['10.1.0.10'],
  },
  {
    name: 'one that its pool does not have any more is left out',
    pools: [A],
    listed: [record('10.0.0.99', 'Retained', 'a'), record('10.0.0.10', 'Suspect', 'a')],
    expected: ['10.0.0.10'],
  },
  {
    name: 'one of another domain is left out',
    pools: [{ ...A, domain: 'blue' }],
    listed: [record('10.0.0.10', 'Retained', 'a')],
    expected: [],
  },
  {
    name: 'what is held or rests does not wait',
    pools: [A],
    listed: [record('10.0.0.10', 'Allocated', 'a'), record('10.0.0.11', 'Cooling', 'a')],
    expected: [],
  },
  {
    name: 'Retained comes before Suspect, whatever its pool',
    pools: [A, B],
    listed: [record('10.0.0.10', 'Suspect', 'a'), record('10.1.0.10', 'Retained', 'b')],
    expected: ['10.1.0.10', '10.0.0.10'],
  },
  {
    name: 'then the pools decide by their order',
    pools: [B, A],
    listed: [record('10.0.0.10', 'Retained', 'a'), record('10.1.0.10', 'Retained', 'b')],
    expected: ['10.1.0.10', '10.0.0.10'],
  },
  {
    name: 'then the name, however they were listed',
    pools: [A],
    listed: [record('10.0.0.12', 'Retained', 'a'), record('10.0.0.11', 'Retained', 'a')],
    expected: ['10.0.0.11', '10.0.0.12'],
  },
] as const)('$name', ({ pools, listed, expected }) => {
  expect(waitingFor(pools, listed).map((it) => it.record.spec.address)).toEqual(expected);
});
