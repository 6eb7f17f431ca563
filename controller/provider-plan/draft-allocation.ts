import { formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { cidrContains } from '#pkg/ip/cidr.ts';
import type { NewObject } from '#pkg/kube/objects/kube-object.ts';
import { allocationName, otherAllocationName } from '#pkg/vitistack/provider-names.ts';
import type { NetworkConfiguration, ShownInterface } from '#pkg/vitistack/read-network-configuration.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import type { ServedInterface } from '#pkg/vitistack/serving-allocations.ts';
import {
  ALLOCATION_FINALIZER,
  allocationLabels,
  configurationOwner,
  LAST_ADDRESS_ANNOTATION,
  MADE_ANNOTATION,
} from '#pkg/vitistack/vitistack-names.ts';

export interface AllocationDraft {
  readonly object: NewObject;
  /** The name to take if an IPAllocation of another interface has the first one. */
  readonly otherName: string;
}

/**
 * The IPAllocation of an interface, with name, labels and owner as the page has them. It asks for the address that the configuration
 * still shows. Exactly the address of static-ip-operator is asked for, and no other: no machine is renumbered because two have one.
 */
export function draftAllocation(
  configuration: NetworkConfiguration,
  network: NetworkNamespace,
  { wanted, shown }: ServedInterface,
): AllocationDraft {
  const { namespace, name, uid, isTakenOver } = configuration;
  const asked = addressToKeep(configuration, network, shown);
  return {
    object: {
      metadata: {
        namespace,
        name: allocationName(name, wanted.name),
        // It would be the first thing to be added.
        finalizers: [ALLOCATION_FINALIZER],
        labels: allocationLabels(network.name, name),
        annotations: {
          [MADE_ANNOTATION]: name,
          ...(asked === null || isTakenOver === true ? {} : { [LAST_ADDRESS_ANNOTATION]: asked }),
        },
        ownerReferences: [configurationOwner(name, uid)],
      },
      spec: {
        networkNamespaceName: network.name,
        networkConfigurationName: name,
        ...(wanted.name === '' ? {} : { interfaceName: wanted.name }),
        ...(asked === null || isTakenOver !== true ? {} : { requestedAddress: asked }),
      },
    },
    otherName: otherAllocationName(name, wanted.name),
  };
}

/** The address that the status shows and that the interface is to keep. One of another network is of no use any more. */
export function addressToKeep(
  { isTakenOver }: NetworkConfiguration,
  { network }: NetworkNamespace,
  shown: ShownInterface | null,
): string | null {
  const [first] = shown?.isStatic === true ? shown.addresses : [];
  const address = first === undefined ? null : tryParseAddress(first);
  if (address?.family !== 4) return null;
  const isOfNetwork = network === null || cidrContains(network.pool.subnet, address);
  return isTakenOver === true || isOfNetwork ? formatAddress(address) : null;
}
