import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { NAMESPACE_ANNOTATIONS, POD_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader, type Parsed } from './annotation-reader.ts';
import { type PoolNames, parseIppool, parseIppools } from './pool-annotations.ts';
import type { Controller, Labels, PoolRequest } from './request.ts';
import type { NicSubnets } from './subnet-annotations.ts';
import { parseNicSubnets } from './subnet-wish.ts';

/** Where candidates may come from, in the order of precedence: the first that exists wins completely. */
const SOURCES = {
  'pod-subnets': `pod annotation ${POD_ANNOTATIONS.subnets}`,
  'pod-subnet': `pod annotation ${POD_ANNOTATIONS.subnet}`,
  'pod-ippools': `pod annotation ${POD_ANNOTATIONS.ippools}`,
  'pod-ippool': `pod annotation ${POD_ANNOTATIONS.ippool}`,
  namespace: `namespace annotation ${NAMESPACE_ANNOTATIONS.v4[0]} or ${NAMESPACE_ANNOTATIONS.v6[0]}`,
  'cni-configuration': 'CNI configuration',
  'default-pools': 'default pools',
} as const;

export type CandidateSource = keyof typeof SOURCES;

export function describeSource(source: CandidateSource): string {
  return SOURCES[source];
}

/** A list of names of one family, and where it was written. */
export interface NameList {
  readonly from: string;
  readonly names: readonly string[];
  /** The reason of the error about a list that cannot be used: it says who wrote the list. */
  readonly fault: 'bad-annotation' | 'bad-config';
}

/** What one source names. A family it does not name stays empty, whatever lower sources would add. */
interface AskedPools {
  readonly source: CandidateSource;
  readonly v4: NameList;
  readonly v6: NameList;
  readonly cleanGateway: boolean;
  readonly warnings: readonly string[];
}

/** The first source that exists; null when none names a pool. */
export const askedPools = perRequest((request): AskedPools | null => {
  return fromIppools(request) ?? fromIppool(request) ?? fromNamespace(request) ?? fromCniConfig(request);
});

/** Whether a name has wildcards, and so stands for all pools that match it. */
export function isPattern(name: string): boolean {
  return /[*?]/.test(name) || (name.includes('[') && name.includes(']'));
}

/** Whether some source may name a pattern. Most calls have none, and are not parsed for this. */
export function mayAskForPatterns({ pod, namespace, cniConfig }: PoolRequest): boolean {
  const podKeys = [POD_ANNOTATIONS.ippool, POD_ANNOTATIONS.ippools];
  const namespaceKeys = [...NAMESPACE_ANNOTATIONS.v4, ...NAMESPACE_ANNOTATIONS.v6];
  const texts = [
    ...podKeys.map((key) => pod.annotations[key]),
    ...namespaceKeys.map((key) => namespace.annotations[key]),
  ];
  const names = [...cniConfig.ipv4, ...cniConfig.ipv6];
  return texts.some((text) => text !== undefined && /[*?\]]/.test(text)) || names.some(isPattern);
}

function fromIppools(request: PoolRequest): AskedPools | null {
  const text = request.pod.annotations[POD_ANNOTATIONS.ippools];
  if (text === undefined) return null;
  const { value, warnings } = parseIppools(text, request);
  return { ...named('pod-ippools', value), cleanGateway: value.cleanGateway, warnings };
}

function fromIppool(request: PoolRequest): AskedPools | null {
  const text = request.pod.annotations[POD_ANNOTATIONS.ippool];
  if (text === undefined) return null;
  const { value, warnings } = parseIppool(text);
  return { ...named('pod-ippool', value), cleanGateway: request.cniConfig.cleanGateway, warnings };
}

function fromNamespace(request: PoolRequest): AskedPools | null {
  const { v4, v6, warnings } = parseNamespacePools(request.namespace.annotations);
  if (v4.names.length === 0 && v6.names.length === 0) return null;
  return { source: 'namespace', v4, v6, cleanGateway: request.cniConfig.cleanGateway, warnings };
}

function fromCniConfig({ cniConfig }: PoolRequest): AskedPools | null {
  const { ipv4, ipv6, cleanGateway } = cniConfig;
  if (ipv4.length === 0 && ipv6.length === 0) return null;
  return { ...named('cni-configuration', { v4: ipv4, v6: ipv6 }), cleanGateway, warnings: [] };
}

function named(source: CandidateSource, names: PoolNames): Pick<AskedPools, 'source' | 'v4' | 'v6'> {
  const from = describeSource(source);
  const fault = source === 'cni-configuration' ? 'bad-config' : 'bad-annotation';
  return { source, v4: { from, names: names.v4, fault }, v6: { from, names: names.v6, fault } };
}

interface NamespacePools {
  readonly v4: NameList;
  readonly v6: NameList;
  readonly warnings: readonly string[];
}

export function parseNamespacePools(annotations: Labels): NamespacePools {
  const warnings: string[] = [];
  const v4 = readNameList(annotations, NAMESPACE_ANNOTATIONS.v4, warnings);
  const v6 = readNameList(annotations, NAMESPACE_ANNOTATIONS.v6, warnings);
  return { v4, v6, warnings };
}

function readNameList(annotations: Labels, [key, olderKey]: readonly [string, string], warnings: string[]): NameList {
  const text = annotations[key];
  const olderText = annotations[olderKey];
  if (text !== undefined && olderText !== undefined) {
    warnings.push(`annotation ${olderKey} is ignored: ${key} is there too`);
  }
  const [usedKey, usedText] = text === undefined ? [olderKey, olderText] : [key, text];
  if (usedText === undefined) return { from: `namespace annotation ${key}`, names: [], fault: 'bad-annotation' };
  const reader = new AnnotationReader(usedKey);
  const names = reader.names(reader.json(usedText), 'the value');
  return { from: `namespace annotation ${usedKey}`, names, fault: 'bad-annotation' };
}

export type SubnetSource = 'pod-subnets' | 'pod-subnet';

export function subnetSource({ pod }: PoolRequest): SubnetSource | null {
  if (pod.annotations[POD_ANNOTATIONS.subnets] !== undefined) return 'pod-subnets';
  return pod.annotations[POD_ANNOTATIONS.subnet] === undefined ? null : 'pod-subnet';
}

const nicSubnets = perRequest(({ pod }) => parseNicSubnets(pod.annotations));

/** The subnets for the interface that asks, and the application they are for. Throws `no-eligible-pool` when there is none. */
export function askedSubnets(
  request: PoolRequest,
  source: SubnetSource,
): Parsed<NicSubnets> & { readonly application: Controller } {
  const from = describeSource(source);
  const { value: items, warnings } = nicSubnets(request) ?? { value: [], warnings: [] };
  const value = items.find((item) => item.interface === request.interface);
  if (value === undefined) {
    const named = listSome(
      items.map((item) => quote(item.interface)),
      10,
    );
    throw new IpamError(
      'no-eligible-pool',
      `${from}: nothing for interface ${quote(request.interface)}, only for ${named}`,
    );
  }
  const { controller: application } = request;
  if (application === null || isNode(application)) {
    const who = application === null ? 'a pod without a controller' : 'a static pod';
    throw new IpamError('no-eligible-pool', `${from}: ${who} cannot have pools made from a subnet`);
  }
  return { value, application, warnings };
}

function isNode({ apiVersion, kind }: Controller): boolean {
  return apiVersion === 'v1' && kind === 'Node';
}

type Read<V> = { readonly value: V } | { readonly thrown: unknown };

/**
 * What is read from a request, read once. A call that waits looks again at every change of the pools, and its annotations may be
 * 64 KiB of a tenant's JSON: read each time, those of the pods of one node would keep all other calls waiting.
 */
function perRequest<V>(read: (request: PoolRequest) => V): (request: PoolRequest) => V {
  const known = new WeakMap<PoolRequest, Read<V>>();
  return (request) => {
    const found = known.get(request) ?? tryRead(read, request);
    known.set(request, found);
    if ('thrown' in found) throw found.thrown;
    return found.value;
  };
}

function tryRead<V>(read: (request: PoolRequest) => V, request: PoolRequest): Read<V> {
  try {
    return { value: read(request) };
  } catch (thrown) {
    return { thrown };
  }
}
