import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type NamespacedIdentity, readIdentity } from '#pkg/kube/objects/namespaced-identity.ts';
import { TAKEN_OVER_ANNOTATION } from './provider-names.ts';

/** A network interface as a NetworkConfiguration asks for it. */
export interface WantedInterface {
  readonly name: string;
  readonly macAddress: string;
  readonly vlan: string;
}

/** A NetworkConfiguration: what a machine asks its network for, and the answer in its status. */
export interface NetworkConfiguration extends NamespacedIdentity {
  /** Whether its addresses were given out by static-ip-operator; null: we have not seen it yet. */
  readonly isTakenOver: boolean | null;
  /** In lower case, without spaces around it; empty if none is named. */
  readonly provider: string;
  /** Empty if none is named. */
  readonly networkNamespace: string;
  /** In the order of the spec, at most `MOST_INTERFACES`. */
  readonly interfaces: readonly WantedInterface[];
  /** `status.networkInterfaces` as it is stored: other fields than ours may be in it. */
  readonly shown: readonly ShownInterface[];
  /** `status` as it is stored, of whatever shape. */
  readonly status: Readonly<Record<string, unknown>>;
}

export interface ShownInterface {
  readonly name: string;
  readonly macAddress: string;
  readonly addresses: readonly string[];
  readonly isStatic: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** More than any machine has. What is beyond is said in the status, and gets nothing. */
export const MOST_INTERFACES = 64;

const LONGEST_NAME = 253;
const LONGEST_TEXT = 128;
const MOST_ADDRESSES = 64;

/** Null for an object without a namespace: that kind has one. */
export function readNetworkConfiguration(object: KubeObject): NetworkConfiguration | null {
  const identity = readIdentity(object.metadata);
  if (identity === null) return null;
  const spec = fieldsOf(object['spec']);
  const status = fieldsOf(object['status']);
  return {
    ...identity,
    isTakenOver: readFlag(object.metadata.annotations?.[TAKEN_OVER_ANNOTATION]),
    provider: toProvider(spec['provider']),
    networkNamespace: textOf(spec['networkNamespaceName'], LONGEST_NAME).trim(),
    interfaces: listOf(spec['networkInterfaces'])
      .slice(0, MOST_INTERFACES + 1)
      .map(toWanted),
    shown: listOf(status['networkInterfaces']).map(toShown),
    status,
  };
}

/** Names are compared without case and without spaces around them, as static-ip-operator does. */
export function toProvider(value: unknown): string {
  return textOf(value, LONGEST_TEXT).trim().toLowerCase();
}

function toWanted(item: Readonly<Record<string, unknown>>): WantedInterface {
  return {
    name: textOf(item['name'], LONGEST_NAME),
    macAddress: textOf(item['macAddress'], LONGEST_TEXT),
    vlan: textOf(item['vlan'], LONGEST_TEXT),
  };
}

function toShown(item: Readonly<Record<string, unknown>>): ShownInterface {
  const { ipv4Addresses: addresses } = item;
  const texts = Array.isArray(addresses) ? addresses.filter((it) => typeof it === 'string') : [];
  return {
    name: textOf(item['name'], LONGEST_NAME),
    macAddress: textOf(item['macAddress'], LONGEST_TEXT),
    addresses: texts.slice(0, MOST_ADDRESSES),
    // Older objects say nothing, and DHCP is always named.
    isStatic: item['allocationMethod'] !== 'dhcp',
    fields: item,
  };
}

function readFlag(text: string | undefined): boolean | null {
  return text === undefined ? null : text === 'true';
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.slice(0, 4 * MOST_INTERFACES).filter(isMap) : [];
}

function textOf(value: unknown, longest: number): string {
  return typeof value === 'string' ? value.slice(0, longest) : '';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}
