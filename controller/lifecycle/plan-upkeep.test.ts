import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { planUpkeep, withoutFinalizer } from './plan-upkeep.ts';

const FINALIZER = 'spiderpool.spidernet.io';
const LABEL = 'ipam.spidernet.io/ippool-cidr';

const pool = (spec: object, metadata: object = {}): KubeObject => ({
  metadata: { name: 'p', uid: 'u', resourceVersion: '1', ...metadata },
  spec,
  status: { totalIPCount: 2 ** 63 },
});

test.each([
  { subnet: '10.6.0.0/16', label: '10-6-0-0-16', version: 4 },
  { subnet: 'fd00:6::/64', label: 'fd00-6---64', version: 6 },
])('a bare pool of $subnet gets all three, and its status is left out', ({ subnet, label, version }) => {
  expect(planUpkeep(pool({ subnet }), LABEL)).toEqual({
    metadata: { name: 'p', uid: 'u', resourceVersion: '1', finalizers: [FINALIZER], labels: { [LABEL]: label } },
    spec: { subnet, ipVersion: version },
  });
});

const kept = pool(
  { subnet: '10.6.0.0/16', ipVersion: 4 },
  { finalizers: ['other.io/x', FINALIZER], labels: { [LABEL]: '10-6-0-0-16', app: 'x' } },
);

describe('a pool that has them', () => {
  test('is left alone', () => expect(planUpkeep(kept, LABEL)).toBeNull());

  test('gets a wrong label repaired and keeps the others', () => {
    const wrong = { ...kept, metadata: { ...kept.metadata, labels: { [LABEL]: 'x', app: 'x' } } };
    expect(planUpkeep(wrong, LABEL)?.metadata).toEqual(kept.metadata);
  });
});

test('nothing is added to a pool that is being deleted', () => {
  expect(planUpkeep(pool({ subnet: '10.6.0.0/16' }, { deletionTimestamp: 'now' }), LABEL)).toBeNull();
});

test.each([{ subnet: 'rubbish' }, { subnet: '::/97' }])(
  'what no label can be made of stays without: $subnet',
  (spec) => {
    expect(planUpkeep(pool(spec), LABEL)?.metadata).toMatchObject({ labels: {}, finalizers: [FINALIZER] });
  },
);

test('only our finalizer is taken away', () => {
  expect(withoutFinalizer(kept)?.metadata).toMatchObject({ finalizers: ['other.io/x'] });
  expect(withoutFinalizer(pool({}))).toBeNull();
});
