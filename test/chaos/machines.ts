import type { Holder } from '#pkg/record/ip-record.ts';
import type { ApiObject, ChaosApi } from './chaos-api.ts';

/** The namespace of everything that machines need. */
export const MACHINES = 'machines';
const CAPI = `/apis/ipam.cluster.x-k8s.io/v1beta2/namespaces/${MACHINES}`;
const VITISTACK = '/apis/vitistack.io';
export const CLAIMS = `${CAPI}/ipaddressclaims`;
export const IP_ADDRESSES = `${CAPI}/ipaddresses`;
export const CLUSTERS = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${MACHINES}/clusters`;
export const ALLOCATIONS = `${VITISTACK}/v1alpha2/namespaces/${MACHINES}/ipallocations`;
export const NETWORKS = `${VITISTACK}/v1alpha2/namespaces/${MACHINES}/networknamespaces`;
export const CONFIGURATIONS = `${VITISTACK}/v1alpha1/namespaces/${MACHINES}/networkconfigurations`;

/** An object that asked for an address and is not being deleted, and the address that is shown for it. */
export interface Machine {
  readonly kind: Extract<Holder['kind'], 'IPAddressClaim' | 'IPAllocation'>;
  /** The uid of that object, which is the holder of the record. */
  readonly uid: string;
  readonly key: string;
  readonly address: string;
}

/**
 * The IPAddresses are listed before their claims: a claim that is not being deleted then was not being deleted when its IPAddress was
 * listed. What a claim in deletion shows is not counted, because its record is given back first.
 */
export async function listMachines(api: Pick<ChaosApi, 'list'>): Promise<Machine[]> {
  const addresses = await api.list(IP_ADDRESSES);
  const claims = await api.list(CLAIMS);
  return [...machinesOfClaims(addresses, claims), ...machinesOfAllocations(await api.list(ALLOCATIONS))];
}

export function machinesOfClaims(addresses: readonly ApiObject[], claims: readonly ApiObject[]): Machine[] {
  const asking = new Map(claims.filter(isStaying).map(({ metadata }) => [metadata.uid, metadata]));
  return addresses.filter(isStaying).flatMap(({ metadata, spec }) => {
    const claim = metadata.ownerReferences?.flatMap(({ uid }) => asking.get(uid) ?? [])[0];
    if (claim === undefined) return [];
    return [{ kind: 'IPAddressClaim', uid: claim.uid, key: keyOf(claim), address: String(spec?.['address']) }];
  });
}

export function machinesOfAllocations(allocations: readonly ApiObject[]): Machine[] {
  return allocations.filter(isStaying).flatMap(({ metadata, status }) => {
    const address = status?.['address'];
    if (status?.['phase'] !== 'Allocated' || typeof address !== 'string') return [];
    return [{ kind: 'IPAllocation', uid: metadata.uid, key: keyOf(metadata), address }];
  });
}

export function isStaying({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp === undefined;
}

export function keyOf({ namespace, name }: ApiObject['metadata']): string {
  return `${namespace}/${name}`;
}
