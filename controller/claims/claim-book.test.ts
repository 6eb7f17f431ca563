import { expect, test } from 'vitest';
import { CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { KubeObject, ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { ClaimBook } from './claim-book.ts';

const poolRef = { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' };

function claimOf(name: string, finalizers: readonly string[], minute = 0): KubeObject {
  const creationTimestamp = new Date(Date.UTC(2026, 10, 18, 16, minute)).toISOString();
  const metadata = { namespace: 'prod', name, uid: name, resourceVersion: '1', finalizers: [...finalizers] };
  return { metadata: { ...metadata, creationTimestamp }, spec: { clusterName: 'does-not-exist', poolRef } };
}

function build() {
  const [claims, addresses] = [new Map<string, KubeObject>(), new Map<string, KubeObject>()];
  const viewOf = (objects: Map<string, KubeObject>) => ({ get: ({ name }: ObjectName) => objects.get(name) ?? null });
  const views = { claims: viewOf(claims), addresses: viewOf(addresses), clusters: viewOf(new Map()) };
  const book = new ClaimBook(views as never, () => 0);
  const tell = (name: string) => book.update({ namespace: 'prod', name });
  return {
    addresses,
    book,
    create: (claim: KubeObject) => {
      claims.set(claim.metadata.name, claim);
      tell(claim.metadata.name);
    },
    remove: (name: string) => {
      claims.delete(name);
      tell(name);
    },
    expected: () => book.expected('lab').map(({ key }) => key.slice('prod/'.length)),
  };
}

test('the IPAddress of a claim of a missing cluster is expected only if the claim was served before: a move keeps the finalizer', () => {
  const { create, expected } = build();
  create(claimOf('fresh', []));
  expect(expected()).toEqual([]);
  create(claimOf('moved', [CLAIM_FINALIZER]));
  expect(expected()).toEqual(['moved']);
});

test('a pool and a cluster name their claims from the oldest to the youngest, whatever they are called and whichever changed last', () => {
  const { create, remove, book } = build();
  for (const [name, minute] of [
    ['a-third', 3],
    ['z-first', 1],
    ['m-second', 2],
    ['gone', 0],
  ] as const) {
    create(claimOf(name, [], minute));
  }
  create(claimOf('z-first', [CLAIM_FINALIZER], 1));
  remove('gone');
  const oldestFirst = ['prod/z-first', 'prod/m-second', 'prod/a-third'];
  expect(book.ofPool('lab')).toEqual(oldestFirst);
  expect(book.ofCluster({ namespace: 'prod', name: 'does-not-exist' })).toEqual(oldestFirst);
});

test('whoever writes our finalizer on claims that wait for nothing, again and again, holds the pool for half an hour', () => {
  const { create, remove, expected } = build();
  const rounds = [0, 9, 18, 27, 36].map((minute) => {
    create(claimOf('vm-0', [CLAIM_FINALIZER], minute));
    const isHeld = expected().length > 0;
    remove('vm-0');
    return isHeld;
  });
  expect(rounds).toEqual([true, true, true, false, false]);
});

test('moves that bring their IPAddresses are never refused the hold', () => {
  const { create, remove, expected, addresses, book } = build();
  for (let minute = 0; minute < 60; minute += 9) {
    create(claimOf('vm-0', [CLAIM_FINALIZER], minute));
    expect(expected()).toEqual(['vm-0']);
    addresses.set('vm-0', { metadata: { namespace: 'prod', name: 'vm-0', uid: 'a', resourceVersion: '1' } });
    expect(book.weigh('prod/vm-0')).toBe('lab');
    expect(expected()).toEqual([]);
    remove('vm-0');
    addresses.clear();
  }
});
