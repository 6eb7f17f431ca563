import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildSituation, keyOf, wants } from '#test/support/build-situation.ts';
import { changedPoolObject, newPoolObject } from './pool-object.ts';

const { subnet } = buildSituation({ metadata: { uid: 's-1', annotations: { 'ipledger.io/domain': 'blue' } } });
const set = (...ranges: string[]) => IntervalSet.of(ranges.map(parseRange));
const SUBNET = { metadata: { name: 'office', uid: 's-1', resourceVersion: '1' }, spec: { gateway: '10.0.0.1' } };
const wanted = wants(keyOf('web'), 2);
const NOW = new Date('2026-11-18T12:00:00Z');
const made = newPoolObject('w', wanted, set('10.0.0.10-10.0.0.11'), { subnet, object: SUBNET });
const stored = {
  ...made,
  metadata: { ...made.metadata, uid: 'p-1', resourceVersion: '7' },
  status: { totalIPCount: 2 },
};

test('a new pool is of the domain of its subnet, and owned by it', () => {
  expect(made.metadata.annotations).toEqual({
    'ipam.spidernet.io/ippool-ip-number': '2',
    'ipledger.io/domain': 'blue',
  });
  expect(made.metadata.ownerReferences).toMatchObject([{ name: 'office', uid: 's-1', controller: true }]);
  expect(made['spec']).toMatchObject({ gateway: '10.0.0.1', ips: ['10.0.0.10-10.0.0.11'] });
  expect(made['spec']).not.toHaveProperty('routes');
});

test('a change leaves what others wrote, notes what was dropped, and carries the version that was seen', () => {
  const foreign = { ...stored, metadata: { ...stored.metadata, labels: { ...stored.metadata.labels, team: 'a' } } };
  const spec = { ...(made['spec'] as object), excludeIPs: ['10.0.0.11'], multusName: ['m'] };
  const next = changedPoolObject(
    { ...foreign, spec },
    { wanted, addresses: set('10.0.0.10'), lost: set('10.0.0.11') },
    { subnet, now: NOW },
  );
  expect(next.metadata).toMatchObject({ uid: 'p-1', resourceVersion: '7', labels: { team: 'a' } });
  expect(next['spec']).toMatchObject({ ips: ['10.0.0.10'], multusName: ['m'] });
  expect(next['spec']).not.toHaveProperty('excludeIPs');
  expect(next).not.toHaveProperty('status');
  expect(next.metadata.annotations).toMatchObject({
    'ipledger.io/dropped-ranges': '{"at":"2026-11-18T12:00:00.000Z","ips":["10.0.0.11"]}',
  });
});
