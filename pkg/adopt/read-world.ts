import { decodePool } from '#pkg/crd/decode-pool.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { ListOptions } from '#pkg/kube/client/request-options.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { PODS } from '#pkg/kube/objects/core-resources.ts';
import { apiVersionOf, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { ENDPOINTS, POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { namesIn } from '#pkg/ledger/kubernetes/kubernetes-table.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { type AdoptedPod, toAdoptedPod, trimAdoptedPod } from './adopted-pod.ts';
import { readLegacyClaims } from './legacy-claims.ts';
import type { AdoptionWorld } from './plan-adoption.ts';

/** A list of all pods is large. A caller that only counts addresses needs no pods. */
export interface WorldOptions {
  readonly withPods: boolean;
}

/** Reads consistent lists. Records are read last: a record that is missing then was also missing when its claim was read. */
export async function readWorld(
  client: KubeClient,
  { withPods }: WorldOptions,
): Promise<{ world: AdoptionWorld; unreadable: readonly string[] }> {
  const poolObjects = await list(client, POOLS);
  const { claims, unreadable } = readLegacyClaims(poolObjects, await list(client, ENDPOINTS));
  const { pools, problems } = decodePools(poolObjects, new Set(claims.map(({ pool }) => pool)));
  const podObjects = claims.length === 0 || !withPods ? [] : await list(client, PODS, { trim: trimAdoptedPod });
  const read = decodePods(podObjects, new Set(claims.map(({ namespace, name }) => `${namespace}/${name}`)));
  const table = await client.listTable(IP_RECORDS);
  if (!table.ok) throw failed(IP_RECORDS, table);
  const records = new Set(namesIn(table.object, undefined));
  const world = { claims, pools, pods: read.pods, records };
  return { world, unreadable: [...unreadable, ...problems, ...read.problems] };
}

/** A pool that cannot be read matters here only if something was given out of it: its domain is unknown. */
function decodePools(objects: readonly KubeObject[], inUse: ReadonlySet<string>) {
  const pools = new Map<string, Pool>();
  const problems: string[] = [];
  for (const object of objects) {
    try {
      pools.set(object.metadata.name, decodePool({ ...object, apiVersion: apiVersionOf(POOLS), kind: POOLS.kind }));
    } catch (thrown) {
      if (inUse.has(object.metadata.name))
        problems.push(`pool ${object.metadata.name}: ${toIpamError(thrown).message}`);
    }
  }
  return { pools, problems };
}

/** A pod that cannot be read matters here only if it has an address. */
function decodePods(objects: readonly KubeObject[], withAddress: ReadonlySet<string>) {
  const pods = new Map<string, AdoptedPod>();
  const problems: string[] = [];
  for (const object of objects) {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    try {
      pods.set(key, toAdoptedPod(object));
    } catch (thrown) {
      if (withAddress.has(key)) problems.push(`pod ${key}: ${toIpamError(thrown).message}`);
    }
  }
  return { pods, problems };
}

async function list(client: KubeClient, resource: Resource, options: ListOptions = {}): Promise<readonly KubeObject[]> {
  const listed = await client.list(resource, {}, options);
  if (!listed.ok) throw failed(resource, listed);
  return listed.object.items;
}

function failed({ plural, kind }: Resource, failure: Parameters<typeof toApiError>[1]) {
  return toApiError(
    `list ${plural}`,
    failure,
    `the API server does not serve the kind ${kind}; are the CRDs installed?`,
  );
}
