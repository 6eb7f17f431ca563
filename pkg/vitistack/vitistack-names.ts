import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { toLabelValue } from '#pkg/record/record-metadata.ts';

const NETWORK_NAMESPACE_LABEL = 'vitistack.io/network-namespace';
const NETWORK_CONFIGURATION_LABEL = 'vitistack.io/network-configuration';

/** Keeps an IPAllocation until its address is given back. It is of our own domain, so that two operators never remove each other's. */
export const ALLOCATION_FINALIZER = 'ipledger.io/release-address';
/** The two that static-ip-operator sets. We take over its objects, so we must be able to end them too. */
export const CONFIGURATION_FINALIZER = 'vitistack.io/static-ip-finalizer';
export const SHARED_IP_FINALIZER = 'vitistack.io/static-ip-cpvip-finalizer';

/** What `spec.provider` calls the operator whose role this is. */
export const STATIC_PROVIDER = 'static-ip-operator';

/** The address that an IPAllocation had before its time was over: asked for again if its NetworkConfiguration comes back. */
export const LAST_ADDRESS_ANNOTATION = 'ipledger.io/last-address';

/** On an IPAllocation that we made for an interface of a NetworkConfiguration; its value is the name of that one. */
export const MADE_ANNOTATION = 'ipledger.io/made-for';

/** Names that are too long or not legal as a label are hashed. No object is found by these labels alone: `spec` decides. */
export function allocationLabels(networkNamespace: string, networkConfiguration: string): Record<string, string> {
  return {
    [NETWORK_NAMESPACE_LABEL]: toLabelValue(networkNamespace),
    [NETWORK_CONFIGURATION_LABEL]: toLabelValue(networkConfiguration),
  };
}

/** As the page has it: neither `controller` nor `blockOwnerDeletion`. */
export function configurationOwner(name: string, uid: string) {
  return { apiVersion: apiVersionOf(NETWORK_CONFIGURATIONS), kind: NETWORK_CONFIGURATIONS.kind, name, uid };
}

/** The name of a NetworkNamespace's pool in the ledger. No SpiderIPPool has a slash in its name. */
export function poolNameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
