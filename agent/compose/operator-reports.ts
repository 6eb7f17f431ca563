import type { Logger } from 'pino';
import type { LostAddress } from '#agent/node/answered-store.ts';
import {
  conflictEvents,
  lostAddressEvents,
  outlivingEvents,
  podBehind,
  refusedOwnerEvent,
  restoredEvent,
} from '#agent/report/agent-events.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { NodePod, Pods } from '#agent/sources/pods.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';

interface Channels {
  readonly events: Events;
  readonly metrics: AgentMetrics;
  readonly pods: Pick<Pods, 'known'>;
  readonly log: Logger;
}

export type OperatorReports = ReturnType<typeof reportToOperators>;

/** What an operator must know, as log line, Event and metric. */
export function reportToOperators({ events, metrics, pods, log }: Channels) {
  return {
    onRefused: (pod: NodePod, why: string): void => events.emit(refusedOwnerEvent(pod, why)),
    onOutliving: (record: IpRecord): void => {
      const { address, holder } = record.spec;
      log.warn({ address, holder: describeHolder(record), netns: holder.netns }, 'sandbox outlives its pod');
      for (const event of outlivingEvents(record, podBehind(holder, pods))) events.emit(event);
    },
    onConflict: ({ spec }: IpRecord, mac: string): void => {
      const found = { address: spec.address, mac };
      for (const event of conflictEvents(podBehind(spec.holder, pods), spec.pool, found)) events.emit(event);
    },
    onRestored: (record: IpRecord): void => {
      metrics.recordRestored();
      events.emit(restoredEvent(podBehind(record.spec.holder, pods), record));
    },
    onLost: ({ record, now }: LostAddress): void => {
      const fields = { address: record.spec.address, holder: describeHolder(record), now: describeHolder(now) };
      log.error(fields, 'address is in use twice');
      for (const event of lostAddressEvents(podBehind(record.spec.holder, pods), record, now)) events.emit(event);
    },
  };
}
