import { recordName } from '#pkg/crd/record-name.ts';
import { type Address, formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { isMap, type KubeObject } from '#pkg/kube/kube-object.ts';

/** An address that Spiderpool's objects say is in use, and that has no record. */
interface LegacyAddress {
  readonly address: string;
  /** `pool v4` or `endpoint prod/web-0`. */
  readonly where: string;
  readonly holder: string;
}

export interface LegacyState {
  readonly addresses: readonly LegacyAddress[];
  /** Statuses that cannot be read: nobody knows what they stand for, so they count as state. */
  readonly unreadable: readonly string[];
}

export interface LegacyInput {
  readonly pools: readonly KubeObject[];
  readonly endpoints: readonly KubeObject[];
  /** Names of all records. */
  readonly records: ReadonlySet<string>;
  /** The domain of each pool; `default` where it is not known. */
  readonly domainOf: (pool: string) => string;
}

/** What must be adopted before an agent may give out addresses. What our own projections wrote has its records. */
export function findLegacyState(input: LegacyInput): LegacyState {
  const found = [...input.pools.flatMap(fromPool), ...input.endpoints.flatMap(fromEndpoint)];
  const addresses = found.filter((it) => it.address !== null && !hasRecord(it.address, it.pool, input));
  return {
    addresses: addresses.map(({ address, where, holder }) => ({
      address: address === null ? '' : formatAddress(address),
      where,
      holder,
    })),
    unreadable: found.filter(({ address }) => address === null).map(({ where, holder }) => `${where}: ${holder}`),
  };
}

interface Found {
  /** Null: `holder` says what cannot be read. */
  readonly address: Address | null;
  readonly pool: string;
  readonly where: string;
  readonly holder: string;
}

function hasRecord(address: Address, pool: string, { records, domainOf }: LegacyInput): boolean {
  return records.has(recordName(address, domainOf(pool)));
}

function fromPool(object: KubeObject): Found[] {
  const pool = object.metadata.name;
  const about = { pool, where: `pool ${pool}` };
  const status = isMap(object['status']) ? object['status'] : {};
  const text = status['allocatedIPs'];
  if (text === undefined || text === null || text === '') return [];
  const allocated = parseMap(text);
  if (allocated === null) return [{ ...about, address: null, holder: 'status.allocatedIPs cannot be read' }];
  return Object.entries(allocated).map(([key, value]) => {
    const address = tryParseAddress(key);
    const pod = isMap(value) && typeof value['pod'] === 'string' ? value['pod'] : 'unknown';
    return { ...about, address, holder: address === null ? `${JSON.stringify(key.slice(0, 60))} is no address` : pod };
  });
}

function fromEndpoint({ metadata, ...object }: KubeObject): Found[] {
  const holder = `${metadata.namespace ?? ''}/${metadata.name}`;
  const about = { where: `endpoint ${holder}` };
  const status = isMap(object['status']) ? object['status'] : {};
  const current = isMap(status['current']) ? status['current'] : {};
  const ips = Array.isArray(current['ips']) ? current['ips'] : [];
  return ips.filter(isMap).flatMap((ip) =>
    (['ipv4', 'ipv6'] as const).flatMap((family) => {
      const text = ip[family];
      if (text === undefined || text === null || text === '') return [];
      const pool = String(ip[`${family}Pool`] ?? '');
      const address = typeof text === 'string' ? tryParseAddress(text.split('/', 1)[0] ?? '') : null;
      const said = address === null ? `status.current.ips has a bad ${family}` : holder;
      return [{ ...about, pool, address, holder: said }];
    }),
  );
}

function parseMap(text: unknown): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : null;
    return isMap(value) ? value : null;
  } catch {
    return null;
  }
}
