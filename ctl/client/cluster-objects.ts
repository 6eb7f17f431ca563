import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeReservedIp, type ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { type ReservedAddresses, reservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { apiVersionOf, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { IP_RECORDS, toRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** The objects that could be decoded, and one line for each that could not. */
export interface Read<T> {
  readonly items: readonly T[];
  readonly problems: readonly string[];
}

export interface ClusterPools {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly reservedIps: readonly ReservedIp[];
  readonly reserved: ReservedAddresses;
  readonly problems: readonly string[];
}

async function listObjects(client: KubeClient, resource: Resource): Promise<readonly KubeObject[]> {
  const listed = await client.list(resource);
  if (!listed.ok && listed.because === 'NotServed') {
    const message = `the API server does not serve the kind ${resource.kind}; are its CRDs (deploy/crds) installed?`;
    throw new IpamError('bad-config', message);
  }
  if (!listed.ok) throw toLedgerError(`list ${resource.plural}`, listed);
  // Items of a list have no kind of their own.
  const { kind } = resource;
  return listed.object.items.map((item) => ({ ...item, apiVersion: apiVersionOf(resource), kind }));
}

export async function readAll<T>(
  client: KubeClient,
  resource: Resource,
  decode: (object: KubeObject) => T,
): Promise<Read<T>> {
  return decodeAll(await listObjects(client, resource), decode);
}

export async function readRecords(client: KubeClient): Promise<Read<IpRecord>> {
  const objects = await listObjects(client, IP_RECORDS);
  return decodeAll(
    objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    toRecord,
  );
}

export async function readPools(client: KubeClient): Promise<ClusterPools> {
  const pools = await readAll(client, POOLS, decodePool);
  const reserved = await readAll(client, RESERVED_IPS, decodeReservedIp);
  return {
    pools: new Map(pools.items.map((pool) => [pool.name, pool])),
    reservedIps: reserved.items,
    reserved: reservedAddresses(reserved.items),
    problems: [...pools.problems, ...reserved.problems],
  };
}

function decodeAll<T>(objects: readonly KubeObject[], decode: (object: KubeObject) => T): Read<T> {
  const items: T[] = [];
  const problems: string[] = [];
  for (const object of objects) {
    try {
      items.push(decode(object));
    } catch (thrown) {
      problems.push(`${String(object['kind'])} ${object.metadata.name}: ${toIpamError(thrown).message}`);
    }
  }
  return { items, problems };
}
