import { fnvHash } from '#pkg/record/record-metadata.ts';

/**
 * On a NetworkConfiguration, set together with the finalizer: `true` if it showed an address before we had given it one. Such an
 * address is asked for and never replaced.
 */
export const TAKEN_OVER_ANNOTATION = 'ipledger.io/taken-over';

/** Labels of the NetworkConfiguration that is made for a virtual IP of a control plane. */
export const CLUSTER_ID_LABEL = 'vitistack.io/clusterid';
export const PURPOSE_LABEL = 'vitistack.io/purpose';
export const CONTROL_PLANE_VIP = 'control-plane-vip';

/** The interface of a NetworkConfiguration that is made for a virtual IP. */
export const VIP_INTERFACE = 'vip';

const LONGEST_NAME = 253;
const LONGEST_CONFIGURATION_NAME = 32;
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The name of the IPAllocation of an interface, `<configuration>-<interface>`; shortened, with a hash, where that is no name. */
export function allocationName(configuration: string, interfaceName: string): string {
  return interfaceName === '' ? configuration : toObjectName(`${configuration}-${interfaceName}`);
}

/**
 * The name where another NetworkConfiguration and interface have the same name in one: `a` with `b-c`, and `a-b` with `c`. No name
 * of an interface has the slash that is hashed here.
 */
export function otherAllocationName(configuration: string, interfaceName: string): string {
  return cut(allocationName(configuration, interfaceName), fnvHash(`${configuration}/${interfaceName}`));
}

/** For the record of an address that an interface shows beside its first one. No IPAllocation is ever made under it. */
export function furtherAllocationName(configuration: string, interfaceName: string, address: string): string {
  return cut(allocationName(configuration, interfaceName), fnvHash(`${configuration}/${interfaceName}/${address}`));
}

/** The name of the NetworkConfiguration that is made for the virtual IP of a cluster. */
export function sharedIpConfigurationName(clusterIdentifier: string): string {
  return toObjectName(`${clusterIdentifier}-cpvip`);
}

/** `spec.name` of a NetworkConfiguration has 32 characters at most. */
export function shortConfigurationName(name: string): string {
  const text = name.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return text.length <= LONGEST_CONFIGURATION_NAME
    ? text
    : cut(text, fnvHash(name).slice(0, 8), LONGEST_CONFIGURATION_NAME);
}

/** A text that is a legal name stays as it is; two texts never become one name. */
function toObjectName(text: string): string {
  if (OBJECT_NAME.test(text) && text.length <= LONGEST_NAME) return text;
  return cut(text.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-'), fnvHash(text));
}

function cut(text: string, hash: string, longest = LONGEST_NAME): string {
  const left = text
    .slice(0, longest - hash.length - 1)
    .replace(/^[-.]+/, '')
    .replaceAll(/[-.]*\.[-.]*/g, '.')
    .replace(/[-.]+$/, '');
  return left === '' ? hash : `${left}-${hash}`;
}
