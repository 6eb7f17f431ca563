import type { AdoptionSource, Legacy, Look } from '#pkg/adopt/adopt.ts';
import { readMarker } from '#pkg/adopt/adoption-marker.ts';
import { findOldAccounts } from '#pkg/adopt/old-writers.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  NETWORK_NAMESPACES,
  OLD_NETWORK_NAMESPACES,
} from '#pkg/kube/objects/vitistack-resources.ts';
import { IP_RECORDS, toRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { type NetworkConfiguration, readNetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import { type RangeRules, readNetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { CONFIGURATION_FINALIZER, poolNameOf } from '#pkg/vitistack/vitistack-names.ts';
import { findRunningOperators, OPERATOR_NAME } from './old-operator.ts';
import { planVitistack } from './plan-vitistack.ts';
import { readVitistackClaims } from './vitistack-claims.ts';

/** Only subnet, gateway and domain are of interest here, and these do not depend on the floor. */
const NO_FLOOR: RangeRules = { floor: 1 };

/** NetworkNamespaces are not served before its marker exists. */
export const VITISTACK: AdoptionSource = {
  marker: 'ipledger-adopted-vitistack',
  findWriters: findRunningOperators,
  look,
  lookForLegacy,
};

/** A NetworkConfiguration with its finalizer and without our annotation is of static-ip-operator, also while it has no address. */
async function lookForLegacy(client: KubeClient, namespace: string): Promise<Legacy> {
  const marker = await readMarker(client, { namespace, name: VITISTACK.marker });
  if (marker !== null) return { isAdopted: true, addresses: 0, unreadable: 0, accounts: [] };
  const accounts = await findOldAccounts(client, [OPERATOR_NAME]);
  const { create, unreadable } = await look(client);
  const configurations = (await list(client, NETWORK_CONFIGURATIONS)) ?? [];
  const signed = configurations.flatMap((it) => readNetworkConfiguration(it) ?? []).filter(isOfOldOperator);
  const addresses = Math.max(create.length, signed.length);
  return { isAdopted: false, addresses, unreadable: unreadable.length, accounts };
}

function isOfOldOperator({ finalizers, isTakenOver }: NetworkConfiguration): boolean {
  return finalizers.includes(CONFIGURATION_FINALIZER) && isTakenOver === null;
}

/** Reads consistent lists. Records are read last: a record that is missing then was also missing when its claim was read. */
async function look(client: KubeClient): Promise<Look> {
  const networks = (await listNetworks(client)).flatMap((it) => readNetworkNamespace(it, NO_FLOOR) ?? []);
  const configurations = (await list(client, NETWORK_CONFIGURATIONS)) ?? [];
  const allocations = (await list(client, IP_ALLOCATIONS)) ?? [];
  const { claims, unreadable } = readVitistackClaims({
    networks,
    configurations: configurations.flatMap((it) => readNetworkConfiguration(it) ?? []),
    allocations: allocations.flatMap((it) => readIpAllocation(it) ?? []),
  });
  const records = (claims.length === 0 ? [] : await list(client, IP_RECORDS)) ?? [];
  const world = {
    claims,
    networks: new Map(networks.map((it) => [poolNameOf(it), it])),
    records: new Map(records.map((it) => [it.metadata.name, toRecord(it)])),
  };
  return { ...planVitistack(world), unreadable };
}

async function listNetworks(client: KubeClient): Promise<readonly KubeObject[]> {
  return (await list(client, NETWORK_NAMESPACES)) ?? (await list(client, OLD_NETWORK_NAMESPACES)) ?? [];
}

/** Null: the kind is not served. An old installation has no IPAllocations. */
async function list(client: KubeClient, resource: Resource): Promise<readonly KubeObject[] | null> {
  const listed = await client.list(resource);
  if (listed.ok) return listed.object.items;
  if (listed.because === 'NotServed') return null;
  throw toApiError(`list ${resource.plural}`, listed, `the API server does not serve the kind ${resource.kind}`);
}
