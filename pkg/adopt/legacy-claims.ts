import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { type Address, tryParseAddress } from '#pkg/ip/address.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Route } from '#pkg/pool/pool.ts';
import { readLegacyRoutes } from './legacy-routes.ts';

/** One statement of Spiderpool's objects that an address is in use. */
export interface LegacyClaim {
  readonly by: 'pool' | 'endpoint';
  readonly address: Address;
  readonly pool: string;
  readonly namespace: string;
  /** The name of the pod or of the VMI. */
  readonly name: string;
  readonly uid: string;
  // Only an endpoint has the fields below.
  readonly interface?: string;
  readonly node?: string;
  readonly gateway?: string;
  readonly cleanGateway?: boolean;
  /** All routes of the answer to an ADD, including those of the pool. */
  readonly routes?: readonly Route[];
  readonly ownerKind?: string;
  readonly ownerName?: string;
}

export interface LegacyClaims {
  readonly claims: readonly LegacyClaim[];
  /** Entries that cannot be read, one line each. Which addresses they stand for is unknown. */
  readonly unreadable: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** All claims in Spiderpool's pools and endpoints. Those that our own projections wrote there look the same. */
export function readLegacyClaims(pools: readonly KubeObject[], endpoints: readonly KubeObject[]): LegacyClaims {
  const read = [...pools.flatMap(fromPool), ...endpoints.flatMap(fromEndpoint)];
  return {
    claims: read.filter((it) => typeof it !== 'string'),
    unreadable: read.filter((it) => typeof it === 'string'),
  };
}

function fromPool(object: KubeObject): (LegacyClaim | string)[] {
  const pool = object.metadata.name;
  const text = fieldsOf(object['status'])['allocatedIPs'];
  if (text === undefined || text === null || text === '') return [];
  const allocated = parseMap(text);
  if (allocated === null) return [`pool ${pool}: status.allocatedIPs cannot be read`];
  return Object.entries(allocated).map(([key, value]) => {
    const address = tryParseAddress(key);
    if (address === null) return `pool ${pool}: ${JSON.stringify(key.slice(0, 60))} is no address`;
    const entry = fieldsOf(value);
    const [namespace, name, ...rest] = textOf(entry['pod']).split('/');
    if (!namespace || !name || rest.length > 0) return `pool ${pool}: the pod of ${key} cannot be read`;
    return { by: 'pool', address, pool, namespace, name, uid: textOf(entry['podUid']) };
  });
}

function fromEndpoint({ metadata, ...object }: KubeObject): (LegacyClaim | string)[] {
  const { namespace = '', name } = metadata;
  const status = fieldsOf(object['status']);
  const current = fieldsOf(status['current']);
  const ips = Array.isArray(current['ips']) ? current['ips'].filter(isMap) : [];
  const about = {
    by: 'endpoint' as const,
    namespace,
    name,
    uid: textOf(current['uid']),
    node: textOf(current['node']),
    ownerKind: textOf(status['ownerControllerType']),
    ownerName: textOf(status['ownerControllerName']),
  };
  return ips.flatMap((ip, position): (LegacyClaim | string)[] => {
    const routes = routesOf(ip, `status.current.ips[${position}].routes`);
    if (typeof routes === 'string') return [`endpoint ${namespace}/${name}: ${routes}`];
    return (['ipv4', 'ipv6'] as const).flatMap((family): (LegacyClaim | string)[] => {
      const text = ip[family];
      if (text === undefined || text === null || text === '') return [];
      const address = tryParseAddress(textOf(text).split('/', 1)[0] ?? '');
      if (address === null) return [`endpoint ${namespace}/${name}: status.current.ips has a bad ${family}`];
      const found = { ...about, address, pool: textOf(ip[`${family}Pool`]), interface: nicOf(ip, position) };
      const ofFamily = routes.filter(({ dst }) => dst.includes(':') === (address.family === 6));
      return [{ ...found, ...wayOut(ip, textOf(ip[`${family}Gateway`]), ofFamily) }];
    });
  });
}

type WayOut = Pick<LegacyClaim, 'gateway' | 'cleanGateway' | 'routes'>;

function wayOut(ip: Fields, gateway: string, routes: readonly Route[]): WayOut {
  return {
    ...(gateway === '' ? {} : { gateway }),
    ...(ip['cleanGateway'] === true ? { cleanGateway: true } : {}),
    ...(routes.length === 0 ? {} : { routes }),
  };
}

/** Returns the routes, or why they cannot be read: a pod must not lose a route without a message. */
function routesOf(ip: Fields, path: string): readonly Route[] | string {
  try {
    return readLegacyRoutes(ip['routes'], path);
  } catch (thrown) {
    return toIpamError(thrown).message;
  }
}

/** An entry without a NIC gets the name that Multus will give to the NIC at its position. */
function nicOf(ip: Fields, position: number): string {
  const name = textOf(ip['interface']);
  if (name !== '') return name;
  return position === 0 ? 'eth0' : `net${position}`;
}

function fieldsOf(value: unknown): Fields {
  return isMap(value) ? value : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function parseMap(text: unknown): Fields | null {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : null;
    return isMap(value) ? value : null;
  } catch {
    return null;
  }
}
