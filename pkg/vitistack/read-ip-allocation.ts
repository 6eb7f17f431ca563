import { type Address, tryParseAddress } from '#pkg/ip/address.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type NamespacedIdentity, readIdentity } from '#pkg/kube/objects/namespaced-identity.ts';
import { readOwners, type StoredOwner } from '#pkg/kube/objects/stored-owner.ts';
import { LAST_ADDRESS_ANNOTATION, MADE_ANNOTATION } from './vitistack-names.ts';

export const ALLOCATION_PHASES = ['Pending', 'Allocated', 'Released', 'Error'] as const;
type AllocationPhase = (typeof ALLOCATION_PHASES)[number];

/** An IPAllocation, of any operator. */
export interface IpAllocation extends NamespacedIdentity {
  readonly labels: Readonly<Record<string, string>>;
  readonly owners: readonly StoredOwner[];
  readonly networkNamespace: string;
  readonly networkConfiguration: string;
  /** Empty where it names none. */
  readonly interface: string;
  /** As it is written; empty where none is asked for. */
  readonly requestedAddress: string;
  /** `status` as it is stored, of whatever shape. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly phase: AllocationPhase | null;
  /** The address that the status shows; null for none, and for what is no address. */
  readonly shownAddress: Address | null;
  /** The address that it had before its time was over. */
  readonly lastAddress: Address | null;
  /** Our own controller made it for an interface of the NetworkConfiguration. What others made, it never deletes. */
  readonly isMadeByUs: boolean;
}

const LONGEST_NAME = 253;
const LONGEST_ADDRESS = 64;

/** Null for one that names no NetworkNamespace or no NetworkConfiguration: the schema refuses it, and nothing can be done for it. */
export function readIpAllocation({ metadata, spec, status: stored }: KubeObject): IpAllocation | null {
  const identity = readIdentity(metadata);
  const fields = isMap(spec) ? spec : {};
  const networkNamespace = readName(fields['networkNamespaceName']);
  const networkConfiguration = readName(fields['networkConfigurationName']);
  if (identity === null || networkNamespace === '' || networkConfiguration === '') return null;
  const status = isMap(stored) ? stored : {};
  return {
    ...identity,
    labels: metadata.labels ?? {},
    owners: readOwners(metadata.ownerReferences),
    networkNamespace,
    networkConfiguration,
    interface: readName(fields['interfaceName']),
    requestedAddress: readText(fields['requestedAddress'], LONGEST_ADDRESS),
    status,
    phase: ALLOCATION_PHASES.find((phase) => phase === status['phase']) ?? null,
    shownAddress: readAddress(status['address']),
    lastAddress: readAddress(metadata.annotations?.[LAST_ADDRESS_ANNOTATION]),
    isMadeByUs: metadata.annotations?.[MADE_ANNOTATION] !== undefined,
  };
}

function readName(value: unknown): string {
  return typeof value === 'string' && value.length <= LONGEST_NAME ? value : '';
}

/** Cut, not dropped: the status then says that it is no address. */
function readText(value: unknown, longest: number): string {
  return typeof value === 'string' ? value.slice(0, longest) : '';
}

function readAddress(value: unknown): Address | null {
  return typeof value === 'string' ? tryParseAddress(value) : null;
}
