import type { Holder, RecordSpec, RecordState } from '#pkg/record/ip-record.ts';

const UNTIL = '2030-01-01T00:00:00Z';

export function holderOf(change: Partial<Holder> = {}): Holder {
  return {
    kind: 'Pod',
    namespace: 'prod',
    name: 'web-0',
    uid: 'pod-uid-0',
    interface: 'eth0',
    network: 'macvlan-conf',
    containerID: 'container-0',
    netns: '/var/run/netns/blue',
    attachGeneration: 1,
    node: 'worker-1',
    owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' },
    ...change,
  };
}

export function specOf(address: string, change: Partial<RecordSpec> = {}): RecordSpec {
  return {
    address,
    prefix: address.includes(':') ? 64 : 24,
    domain: 'default',
    pool: { kind: 'SpiderIPPool', name: 'pool-a', uid: 'pool-uid-a' },
    state: 'Allocated',
    holder: holderOf(),
    ...change,
  };
}

/** The same record in another state, with the fields that this state requires. */
export function inState(spec: RecordSpec, state: RecordState): RecordSpec {
  const { until: _, ...rest } = spec;
  if (state !== 'Cooling' && state !== 'Quarantined') return { ...rest, state };
  const { uid: _uid, containerID: _containerID, ...holder } = spec.holder;
  return { ...rest, state, until: UNTIL, holder };
}

export function heldBy(spec: RecordSpec, change: Partial<Holder>): RecordSpec {
  return { ...spec, holder: { ...spec.holder, ...change } };
}
