import { expect, test } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { IpRecord, RecordState } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { type NewsSources, SubnetNews } from './subnet-news.ts';

const SUBNET = {
  metadata: { name: 'office', uid: 's-1', resourceVersion: '1' },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.29'] },
};
const pool = buildPool({ name: 'w', ips: ['10.0.0.10-10.0.0.14'] });
const ranges = { ...pool, uid: 'p-1' };

function recordOf(address: string, state: RecordState = 'Allocated', name = 'w'): IpRecord {
  const record = buildRecord({ address, state });
  return { ...record, spec: { ...record.spec, pool: { kind: 'SpiderIPPool', name, uid: 'p-1' } } };
}

/** The subnets that are looked at again after a change of one record; `awaited` is a pool that waits for its addresses. */
function newsOf(before: IpRecord | null, after: IpRecord | null, awaited = ''): string[] {
  const records = new Listeners<{ before: IpRecord | null; after: IpRecord | null }>();
  const silent = { onChange: () => ({ [Symbol.dispose]() {} }), all: () => [] };
  const enqueued: string[] = [];
  const sources = {
    applications: { ...silent, subnets: () => [] },
    unserved: silent,
    owners: silent,
    subnets: { ...silent, all: () => [SUBNET] },
    pools: silent,
    poolsNow: { find: (name: string) => (name === 'w' ? { object: {}, pool, ranges } : null) },
    reserved: silent,
    records: { onChange: records.add.bind(records) },
    isAwaited: (_: string, name: string) => name === awaited,
  } as unknown as NewsSources;
  const subscribed = new SubnetNews(sources, (name) => void enqueued.push(name)).subscribe();
  enqueued.length = 0;
  records.tell({ before, after });
  for (const subscription of subscribed) subscription[Symbol.dispose]();
  return enqueued;
}

test('an application that changes wakes the subnets that it names, and those of its pools', () => {
  const applications = new Listeners<object>();
  const silent = { onChange: () => ({ [Symbol.dispose]() {} }), all: () => [] };
  const enqueued: string[] = [];
  const sources = {
    applications: { onChange: applications.add.bind(applications), subnets: () => [] },
    unserved: silent,
    owners: silent,
    subnets: { ...silent, all: () => [SUBNET] },
    pools: silent,
    poolsNow: { of: ({ name }: { name: string }) => (name === 'web' ? [{ object: {}, pool, ranges }] : []) },
    reserved: silent,
    records: silent,
    isAwaited: () => false,
  } as unknown as NewsSources;
  new SubnetNews(sources, (name) => void enqueued.push(name)).subscribe();
  enqueued.length = 0;
  applications.tell({ application: { name: 'web' }, subnets: ['next'] });
  applications.tell({ application: { name: 'db' }, subnets: [] });
  expect(enqueued).toEqual(['next', 'office']);
});

const inside = recordOf('10.0.0.11');
const outside = recordOf('10.0.0.20');

test.each<{ name: string; before: IpRecord | null; after: IpRecord | null; awaited?: string; expected: string[] }>([
  { name: 'an address is taken', before: null, after: inside, expected: [] },
  { name: 'an address comes back', before: inside, after: null, expected: [] },
  {
    name: 'an address comes back to a pool that waits for it',
    before: inside,
    after: null,
    awaited: 'w',
    expected: ['office'],
  },
  { name: 'an address outside of its pool is taken', before: null, after: outside, expected: ['office'] },
  { name: 'an address outside of its pool is free again', before: outside, after: null, expected: ['office'] },
  {
    name: 'an address is found to be at fault',
    before: inside,
    after: recordOf('10.0.0.11', 'Suspect'),
    expected: ['office'],
  },
  {
    name: 'an address is not at fault any more',
    before: recordOf('10.0.0.11', 'Quarantined'),
    after: null,
    expected: ['office'],
  },
  {
    name: 'a record of a pool that is gone',
    before: recordOf('10.0.0.11', 'Allocated', 'gone'),
    after: null,
    awaited: 'gone',
    expected: ['office'],
  },
])('$name', ({ before, after, awaited, expected }) => {
  expect([...new Set(newsOf(before, after, awaited))]).toEqual(expected);
});
