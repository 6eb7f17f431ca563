import type { Logger } from 'pino';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { CollectMetrics } from './collect-metrics.ts';
import type { LiveReads } from './live-reads.ts';
import { draftMissing, type FirstInterfaces, type Missing, mayMiss, readablePools } from './missing-records.ts';
import type { RecordWriter } from './record-writer.ts';

export interface RestoreDeps {
  readonly client: KubeClient;
  readonly reads: LiveReads;
  readonly writer: RecordWriter;
  readonly metrics: CollectMetrics;
  readonly events: Events;
  readonly log: Logger;
  readonly mayWrite: () => boolean;
  readonly nowMs: number;
  readonly served: FirstInterfaces;
}

/** Creates the records that running pods lack. If the name is taken, by any holder, nothing is written. */
export async function restoreMissing(missing: readonly Missing[], deps: RestoreDeps): Promise<void> {
  if (missing.length === 0) return;
  const listed = await deps.client.list(POOLS);
  if (!listed.ok) throw new IpamError('io-failure', `cannot read the pools: ${listed.message}`);
  const pools = readablePools(listed.object.items);
  for (const one of missing) {
    const { namespace, name } = one.pod;
    await restore(one, deps, (found) => draftMissing(found, pools, deps.served)).catch((thrown) => {
      deps.metrics.failed('record-missing');
      deps.log.warn({ namespace, pod: name, why: toIpamError(thrown).message }, 'record not restored');
    });
  }
}

async function restore(
  { pod: { namespace, name, uid }, address }: Missing,
  { reads, writer, metrics, events, log, mayWrite, nowMs }: RestoreDeps,
  draft: (missing: Missing) => ReturnType<typeof draftMissing>,
): Promise<void> {
  const pod = await reads.pod(namespace, name, nowMs);
  if (pod === null || pod.uid !== uid || !mayMiss(pod) || !pod.podIPs.includes(address)) return;
  const spec = draft({ pod, address });
  if (spec === null) return;
  const fields = { record: address, pool: spec.pool.name, namespace, pod: name, uid, cause: 'record-missing' };
  if (!mayWrite()) return;
  const { taken } = await writer.create(spec);
  if (!taken) return;
  log.info(fields, 'record restored');
  metrics.collected('record-missing');
  events.emit({
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: 'AddressRecordRestored',
    note: `the record of ${address} was gone while this pod still has the address; it was made again`,
  });
}
