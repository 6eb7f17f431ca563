import { NOT_LEADER_MS } from '#controller/give/take-address.ts';
import type { AllocationDraft } from '#controller/provider-plan/draft-allocation.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import type { KubeObject, NewObject } from '#pkg/kube/objects/kube-object.ts';
import { failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { type NetworkConfiguration, readNetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { ProviderSources } from './provider-sources.ts';

type Sources = Pick<ProviderSources, 'client' | 'isLeader'>;

const SOON_MS = 200;

/** Reads it before something new is made for it: the watch may be late, and what is made for an object that is gone would never be deleted. */
export async function isStillThere(
  { namespace, name, uid }: NetworkConfiguration,
  { client }: Sources,
): Promise<boolean> {
  const found = await client.get(NETWORK_CONFIGURATIONS, { namespace, name });
  if (found.ok) {
    const now = readNetworkConfiguration(found.object);
    return now !== null && now.uid === uid && !now.isDeleting;
  }
  if (found.because === 'NotFound') return false;
  throw new FailedRequest(`NetworkConfiguration ${namespace}/${name}`, found);
}

/** Their names follow from the configuration, so two leaders make one IPAllocation. Each is tried; the first failure is thrown at the end. */
export async function createAllocations(
  drafts: readonly AllocationDraft[],
  configuration: NetworkConfiguration,
  sources: Sources,
): Promise<number | undefined> {
  const failures: unknown[] = [];
  for (const { object, otherName } of drafts) {
    try {
      if (!sources.isLeader()) return NOT_LEADER_MS;
      if (await isMade(object, configuration, sources)) continue;
      if (!sources.isLeader()) return NOT_LEADER_MS;
      const other = { ...object, metadata: { ...object.metadata, name: otherName } };
      if (!(await isMade(other, configuration, sources))) throw bothTaken(object.metadata.name, otherName);
    } catch (thrown) {
      failures.push(thrown);
    }
  }
  if (failures.length > 0) throw failures[0];
  return undefined;
}

function bothTaken(name: string, otherName: string): FailedRequest {
  const why = `${name} and ${otherName} are IPAllocations of other NetworkConfigurations or interfaces`;
  return new FailedRequest('an IPAllocation with one of its two names', failure('AlreadyExists', why));
}

/** False: the name belongs to the IPAllocation of another configuration or interface. */
async function isMade(object: NewObject, configuration: NetworkConfiguration, { client }: Sources): Promise<boolean> {
  const { metadata, spec } = object;
  const what = `IPAllocation ${metadata.namespace}/${metadata.name}`;
  const made = await client.create(IP_ALLOCATIONS, object);
  if (made.ok || made.isNamespaceGone === true) return true;
  if (made.because !== 'AlreadyExists') throw new FailedRequest(what, made);
  const found: Outcome<KubeObject> = await client.get(IP_ALLOCATIONS, metadata);
  if (!found.ok) throw new FailedRequest(what, found);
  const there = readIpAllocation(found.object);
  const wanted = (spec as { readonly interfaceName?: string }).interfaceName ?? '';
  return there?.networkConfiguration === configuration.name && there.interface === wanted;
}

/** Each as it was seen: one that was made again since, or lost its owner, is not deleted. */
export async function deleteAllocations(
  allocations: readonly IpAllocation[],
  { client, isLeader }: Sources,
): Promise<number | undefined> {
  for (const { namespace, name, uid, resourceVersion } of allocations) {
    if (!isLeader()) return NOT_LEADER_MS;
    const outcome = await client.delete(IP_ALLOCATIONS, { namespace, name, uid, resourceVersion });
    if (outcome.ok || outcome.because === 'NotFound') continue;
    if (outcome.because === 'Conflict') return SOON_MS;
    throw new FailedRequest(`IPAllocation ${namespace}/${name}`, outcome);
  }
  // The events of the watch go on with the configuration; this is for one that the watch has missed.
  return SOON_MS;
}
