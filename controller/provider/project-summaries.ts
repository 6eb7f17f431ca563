import type { OverlapNotes } from '#controller/allocations/overlap-notes.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { type NetworkBlock, planSummary, type SummaryField } from '#controller/provider-plan/network-summary.ts';
import { planOverlapCondition } from '#controller/provider-plan/overlap-condition.ts';
import { startReconciler } from '#controller/reconcile/reconciler.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import { NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { STATIC_PROVIDER } from '#pkg/vitistack/vitistack-names.ts';
import type { ProviderSources } from './provider-sources.ts';
import { RepairPace } from './repair-pace.ts';
import { overlap, tallyNetwork } from './tally-network.ts';

export interface SummarySources extends ProviderSources {
  readonly records: RecordsView;
  readonly pools: ObjectView;
  readonly reserved: ObjectView;
  readonly catalog: PoolReadings;
  /** Which of them share addresses with another pool. */
  readonly overlaps: OverlapNotes;
  readonly debounceMs?: number;
}

const DEBOUNCE_MS = 1_000;

/**
 * Keeps the counts in the status of every static NetworkNamespace equal to the records, with at most one write each per second. Others
 * replace the whole status at times: what they wipe is written again, at growing intervals while they go on.
 */
export function projectSummaries(sources: SummarySources): AsyncDisposable {
  const { client, networks, networksView, allocationsView, records, pools, reserved, catalog } = sources;
  const { networkResource, overlaps, now, debounceMs = DEBOUNCE_MS } = sources;
  const pace = new RepairPace(debounceMs, () => client.timing.nowMs());
  const field: SummaryField =
    networkResource.version === NETWORK_NAMESPACES.version ? 'ipAllocationSummary' : 'ipAllocationStatus';
  /** The NetworkNamespaces that share addresses with a pool of pods, by its name. */
  const sharing = new Map<string, readonly string[]>();

  const poolOf = (name: string): Pool | null =>
    name.includes('/') ? (networks.find(name)?.facts?.pool ?? null) : (catalog.find(name)?.facts.pool ?? null);
  const sharingOf = (name: string): readonly string[] => {
    const known = sharing.get(name);
    if (known !== undefined) return known;
    const pool = poolOf(name);
    const own = [...networks.all()].flatMap(({ network }) => network.network?.pool ?? []);
    const keys = own.filter((it) => pool !== null && overlap(it, pool)).map((it) => it.name);
    sharing.set(name, keys);
    return keys;
  };
  const configurationOf = (at: { readonly namespace: string; readonly name: string }) => {
    const object = allocationsView.get(at);
    return (object === null ? null : readIpAllocation(object))?.networkConfiguration ?? '';
  };

  return startReconciler(sources, {
    kind: 'networkNamespace',
    failed: 'summary of a NetworkNamespace not written',
    debounceMs,
    caches: [networksView, allocationsView, records, pools, reserved],
    watch: (enqueue) => {
      const enqueueAll = () => {
        for (const { metadata } of networksView.all()) enqueue(keyOf(metadata));
      };
      enqueueAll();
      return [
        networks.onEdit(() => sharing.clear()),
        networksView.onChange((at) => enqueue(keyOf(at))),
        pools.onChange(() => sharing.clear()),
        reserved.onChange(enqueueAll),
        overlaps.onChange(enqueue),
        records.onChange(({ before, after }) => {
          for (const record of [before, after]) {
            const name = record?.spec.pool.name ?? '';
            if (name.includes('/')) enqueue(name);
            for (const key of sharingOf(name)) enqueue(key);
          }
        }),
      ];
    },
    reconcile: async (key, { write }) => {
      const at = nameOfKey(key);
      const object = networksView.get(at);
      if (object === null) return void pace.forget(key);
      const status = { ...planCounts(key, object), ...planConditions(key, object) };
      if (Object.keys(status).length === 0) return undefined;
      // A condition that was wiped comes back with another time: it is what was wanted before all the same.
      const wish = { ...status, ...('conditions' in status ? { conditions: overlaps.find(key) } : {}) };
      const shown = (found: KubeObject) => Object.keys(status).map((name) => fieldsOf(found['status'])[name]);
      const dueMs = pace.dueInMs(key, wish, shown(object));
      if (dueMs !== 0) return dueMs ?? undefined;
      const { uid, resourceVersion } = object.metadata;
      const body = { metadata: { uid, resourceVersion }, status };
      const send = () => client.patch(networkResource, at, body, { subresource: 'status' });
      const written = await write(`the summary of NetworkNamespace ${key}`, send);
      if ('object' in written) pace.wrote(key, wish, shown(written.object));
      return written.requeueMs;
    },
  });

  /** Of a block that cannot be read nothing is known, and the counts of a network with DHCP are somebody else's. */
  function planCounts(key: string, object: KubeObject): Readonly<Record<string, unknown>> | null {
    const pool = networks.find(key)?.facts?.pool ?? null;
    if (pool === null || pool.isTerminating) return null;
    const tally = tallyNetwork(pool, { records, poolOf, configurationOf, reserved: catalog.reserved(pool.family) });
    return planSummary(tally, blockOf(object, pool), fieldsOf(object['status']), field);
  }

  function planConditions(key: string, { metadata, status }: KubeObject): { conditions: readonly unknown[] } | null {
    const { conditions: before } = fieldsOf(status);
    const { generation = 0 } = metadata;
    const conditions = planOverlapCondition({ before, note: overlaps.find(key), generation, now: now() });
    return conditions === null ? null : { conditions };
  }
}

function blockOf({ spec }: KubeObject, { subnet }: Pool): NetworkBlock {
  const { ipAllocation, networkProvisioning } = fieldsOf(spec);
  const { provider, static: block } = fieldsOf(ipAllocation);
  const manual = fieldsOf(fieldsOf(networkProvisioning)['manual']);
  const { vlanId } = fieldsOf(block);
  return {
    provider: typeof provider === 'string' && provider !== '' ? provider : STATIC_PROVIDER,
    prefix: formatCidr(subnet),
    vlanId: typeof vlanId === 'number' && vlanId > 0 ? vlanId : null,
    isPrefixManual: manual['ipv4CIDR'] !== undefined,
    isVlanManual: manual['vlanId'] !== undefined,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}
