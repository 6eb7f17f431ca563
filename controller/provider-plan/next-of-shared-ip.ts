import type { KubeObject, NewObject } from '#pkg/kube/objects/kube-object.ts';
import { VIP_INTERFACE } from '#pkg/vitistack/provider-names.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import type { SharedIp } from '#pkg/vitistack/read-shared-ip.ts';
import { SHARED_IP_FINALIZER, STATIC_PROVIDER } from '#pkg/vitistack/vitistack-names.ts';
import { draftVipConfiguration } from './draft-vip-configuration.ts';
import { planSharedIpStatus, type SharedIpStatus } from './shared-ip-status.ts';

export interface SharedIpFacts {
  readonly sharedIp: SharedIp;
  /** The NetworkNamespace that it names, with the provider that this one names in lower case. */
  readonly network: { readonly is: NetworkNamespace; readonly provider: string } | null;
  /** The NetworkConfiguration of its name, of any author. */
  readonly configuration: { readonly is: NetworkConfiguration; readonly object: KubeObject } | null;
  /** What the API server has just refused: it is said, and nothing else is tried in this pass. */
  readonly refusal?: string;
}

/** One write, or none. */
export type SharedIpStep =
  | { readonly do: 'rest' }
  | { readonly do: 'set-finalizers'; readonly finalizers: readonly string[] }
  | { readonly do: 'create'; readonly object: NewObject }
  /** Its network was changed. */
  | { readonly do: 'move'; readonly configuration: NetworkConfiguration; readonly networkNamespace: string }
  | { readonly do: 'delete'; readonly configuration: NetworkConfiguration }
  | { readonly do: 'write-status'; readonly status: SharedIpStatus };

/** The next step of a ControlPlaneVirtualSharedIP: finalizer, NetworkConfiguration, status. */
export function nextOfSharedIp(facts: SharedIpFacts, now: Date): SharedIpStep {
  const { sharedIp, configuration, refusal } = facts;
  const { finalizers } = sharedIp;
  if (sharedIp.isDeleting) return nextOfDeleted(facts);
  if (!isOurs(facts)) return { do: 'rest' };
  if (refusal !== undefined) return say(sharedIp, refusal, now);
  if (!finalizers.includes(SHARED_IP_FINALIZER)) {
    return { do: 'set-finalizers', finalizers: [...finalizers, SHARED_IP_FINALIZER] };
  }
  if (configuration === null) return { do: 'create', object: draftVipConfiguration(sharedIp) };
  const own = ownOf(facts);
  if (own !== null && !own.isDeleting && own.networkNamespace !== sharedIp.networkNamespace) {
    return { do: 'move', configuration: own, networkNamespace: sharedIp.networkNamespace };
  }
  return say(sharedIp, own ?? ownerOf(configuration.object), now);
}

function say(sharedIp: SharedIp, configuration: NetworkConfiguration | string, now: Date): SharedIpStep {
  const status = planSharedIpStatus(sharedIp, configuration, now);
  return status === null ? { do: 'rest' } : { do: 'write-status', status };
}

/** Its own provider decides if there is one, otherwise that of its network, which must be static. */
function isOurs({ sharedIp: { provider }, network }: SharedIpFacts): boolean {
  if (network?.is.type !== 'static') return false;
  return (provider === '' ? network.provider : provider) === STATIC_PROVIDER;
}

function nextOfDeleted(facts: SharedIpFacts): SharedIpStep {
  const { finalizers } = facts.sharedIp;
  if (!finalizers.includes(SHARED_IP_FINALIZER)) return { do: 'rest' };
  const own = ownOf(facts);
  if (own !== null && !own.isDeleting) return { do: 'delete', configuration: own };
  return { do: 'set-finalizers', finalizers: finalizers.filter((it) => it !== SHARED_IP_FINALIZER) };
}

/** Null where the name is taken by the NetworkConfiguration of another author. */
function ownOf({ sharedIp, configuration }: SharedIpFacts): NetworkConfiguration | null {
  if (configuration === null) return null;
  const owners = ownersOf(configuration.object);
  const isOwn = owners.some(({ uid }) => uid === sharedIp.uid);
  const isNobodys = owners.every(({ controller }) => controller !== true);
  const isVip = configuration.is.interfaces.some(({ name }) => name === VIP_INTERFACE);
  return isOwn || (isNobodys && isVip) ? configuration.is : null;
}

function ownersOf({ metadata }: KubeObject): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
}

/** Why the NetworkConfiguration of this name cannot be used. */
function ownerOf(object: KubeObject): string {
  const owner = ownersOf(object).find(({ controller }) => controller === true);
  const whose = owner === undefined ? 'was not made by ipledger' : `belongs to ${owner['kind']} ${owner['name']}`;
  return `NetworkConfiguration ${object.metadata.name} exists and ${whose}`;
}
