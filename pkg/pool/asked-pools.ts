import { POD_ANNOTATIONS } from './annotation-keys.ts';
import { type CandidateSource, describeSource } from './candidate-source.ts';
import { type NameList, parseNamespacePools } from './namespace-annotations.ts';
import { type PoolNames, parseIppool, parseIppools } from './pool-annotations.ts';
import type { PoolRequest } from './request.ts';

/** What one source names. A family it does not name stays empty, whatever lower sources would add. */
export interface AskedPools {
  readonly source: CandidateSource;
  readonly v4: NameList;
  readonly v6: NameList;
  readonly cleanGateway: boolean;
  readonly warnings: readonly string[];
}

/** The first source that exists; null when nobody names a pool. */
export function askedPools(request: PoolRequest): AskedPools | null {
  return fromIppools(request) ?? fromIppool(request) ?? fromNamespace(request) ?? fromCniConfig(request);
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
