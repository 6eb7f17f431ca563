import { decodePool } from '#pkg/crd/decode-pool.ts';
import type { Holder } from '#pkg/crd/ip-record.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { toApiError } from '#pkg/kube/api-error.ts';
import type { KubeClient } from '#pkg/kube/client.ts';
import { PODS } from '#pkg/kube/core-resources.ts';
import { isMap, type KubeObject } from '#pkg/kube/kube-object.ts';
import { apiVersionOf, type Resource } from '#pkg/kube/resource.ts';
import { ENDPOINTS, POOLS } from '#pkg/kube/spider-resources.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes-record.ts';
import { namesIn } from '#pkg/ledger/kubernetes-table.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { readLegacyClaims } from './legacy-claims.ts';
import type { AdoptionWorld, PodOwner } from './plan-adoption.ts';

/** Consistent lists. Records come last: one that is missing there was missing when the claim was read. */
export async function readWorld(client: KubeClient): Promise<{ world: AdoptionWorld; unreadable: readonly string[] }> {
  const poolObjects = await list(client, POOLS);
  const { claims, unreadable } = readLegacyClaims(poolObjects, await list(client, ENDPOINTS));
  const { pools, problems } = decodePools(poolObjects, new Set(claims.map(({ pool }) => pool)));
  const pods = claims.length === 0 ? [] : await list(client, PODS, 'metadata');
  const table = await client.listTable(IP_RECORDS);
  if (!table.ok) throw failed(IP_RECORDS, table);
  const world = { claims, pools, pods: new Map(pods.map(toOwner)), records: new Set(namesIn(table.object, undefined)) };
  return { world, unreadable: [...unreadable, ...problems] };
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

function toOwner({ metadata }: KubeObject): [string, PodOwner] {
  const references = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences.filter(isMap) : [];
  const controller = references.find((it) => it['controller'] === true);
  return [`${metadata.namespace ?? ''}/${metadata.name}`, { uid: metadata.uid, owner: ownerIn(controller) }];
}

function ownerIn(reference: Readonly<Record<string, unknown>> | undefined): NonNullable<Holder['owner']> | null {
  const { apiVersion, kind, name } = reference ?? {};
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return null;
  return { apiVersion, kind, name };
}

async function list(
  client: KubeClient,
  resource: Resource,
  form: 'full' | 'metadata' = 'full',
): Promise<readonly KubeObject[]> {
  const listed = await client.list(resource, {}, { form });
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
