import type { Holder, IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';

interface RecordWish extends Partial<Omit<RecordSpec, 'holder'>> {
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly createdAt?: string;
  readonly holder?: Partial<Holder>;
}

/** A record as a standalone agent writes it, with fixed defaults for everything that is not overridden. */
export function buildRecord(wish: RecordWish = {}): IpRecord {
  const { name, uid, resourceVersion, createdAt, holder, ...spec } = wish;
  const address = spec.address ?? '10.0.0.5';
  return {
    name: name ?? address,
    uid: uid ?? `uid-of-${address}`,
    resourceVersion: resourceVersion ?? '1',
    createdAt: createdAt ?? '2026-11-16T10:00:00Z',
    spec: {
      address,
      prefix: 24,
      domain: 'default',
      pool: { kind: 'SpiderIPPool', name: 'v4', uid: 'uid-of-v4' },
      state: 'Allocated',
      ...spec,
      holder: { ...PLAIN_HOLDER, ...holder },
    },
  };
}

const PLAIN_HOLDER: Holder = {
  kind: 'Container',
  namespace: 'default',
  name: 'web',
  uid: 'c0ffee',
  interface: 'eth0',
  network: 'lab',
  containerID: 'c0ffee',
  netns: '/var/run/netns/web',
  attachGeneration: 1,
  node: 'host-1',
};
