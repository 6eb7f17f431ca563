import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { network } from '#test/support/build-configuration.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { tallyNetwork } from './tally-network.ts';

const KEY = 'datacenter-01/prod-network';
const BLOCK = { ipv4RangeStart: '10.0.2.2', ipv4RangeEnd: '10.0.2.12', ipv4Gateway: '10.0.2.7' };
const POOL = network(BLOCK).network?.pool ?? buildPool();
const PODS = buildPool({ name: 'pods', subnet: '10.0.2.0/24' });
const ELSEWHERE = buildPool({ name: 'elsewhere', subnet: '10.9.0.0/24' });

const allocation = (address: string, wish: object = {}) =>
  buildRecord({
    address,
    pool: { kind: 'NetworkNamespace', name: KEY, uid: 'u' },
    holder: { kind: 'IPAllocation', namespace: 'datacenter-01', name: `a-${address}` },
    ...wish,
  });
const pod = (address: string, pool = 'pods', wish: object = {}) =>
  buildRecord({ address, pool: { kind: 'SpiderIPPool', name: pool, uid: 'u' }, ...wish });

function tally(records: readonly IpRecord[], reserved = IntervalSet.EMPTY) {
  const byPool = Map.groupBy(records, ({ spec }) => spec.pool.name);
  const walked: string[] = [];
  const counted = tallyNetwork(POOL, {
    records: {
      poolNames: () => byPool.keys(),
      ofPool: (name) => {
        walked.push(name);
        return byPool.get(name) ?? [];
      },
    },
    poolOf: (name) => [PODS, ELSEWHERE].find((it) => it.name === name) ?? null,
    configurationOf: ({ name }) => `nc-of-${name}`,
    reserved,
  });
  return { held: counted.held.map(({ ip }) => ip), available: counted.available, walked, first: counted.held[0] };
}

test('an empty pool: the range without the gateway', () => {
  expect(tally([])).toMatchObject({ held: [], available: 10n });
});

test('what allocations hold is counted, in order and with whose it is', () => {
  const { held, available, first } = tally([allocation('10.0.2.10'), allocation('10.0.2.2')]);
  expect(held).toEqual(['10.0.2.2', '10.0.2.10']);
  expect(first).toEqual({ ip: '10.0.2.2', networkConfiguration: 'nc-of-a-10.0.2.2' });
  expect(available).toBe(8n);
});

test('what is reserved, cooling, quarantined or of a pod of an overlapping pool is not available', () => {
  const { value } = parseAddress('10.0.2.11');
  const records = [
    allocation('10.0.2.2'),
    allocation('10.0.2.3', { state: 'Cooling', until: '2026-11-18T21:00:00Z' }),
    pod('10.0.2.4'),
    pod('10.0.2.5', 'a-pool-that-is-gone'),
    pod('10.0.2.6', 'pods', { domain: 'blue' }),
  ];
  const { held, available } = tally(records, IntervalSet.of([{ first: value, last: value }]));
  expect(held).toEqual(['10.0.2.2']);
  expect(available).toBe(5n);
});

test('the records of a pool that shares nothing are not read', () => {
  expect(tally([pod('10.9.0.1', 'elsewhere')]).walked).toEqual([KEY]);
});

test('an allocation outside of a range that was shrunk is held, and takes nothing away', () => {
  expect(tally([allocation('10.0.2.200')])).toMatchObject({ held: ['10.0.2.200'], available: 10n });
});
