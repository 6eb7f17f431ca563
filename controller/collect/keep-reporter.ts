import type { Logger } from 'pino';
import { KEEP_REASONS, type KeepReason, type Verdict } from '#controller/judge/verdict.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

const MOST = 10_000;

const NOTES: Partial<
  Record<KeepReason, (record: IpRecord) => { readonly once: string; readonly reason: string; readonly note: string }>
> = {
  'holder-kind-not-served': ({ spec }) => {
    const kind = spec.holder.kind === 'Pod' ? (spec.holder.owner?.kind ?? 'Pod') : spec.holder.kind;
    return {
      once: kind,
      reason: 'HolderKindNotServed',
      note: `the API server does not serve ${kind}; the addresses that wait for its holders are freed soon (GC_RETAINED_BEYOND_BOUNDS_DURATION) unless it is served again`,
    };
  },
  // Once a namespace: otherwise a tenant with many such records would cause as many Events.
  'beyond-bounds': ({ spec: { address, holder } }) => ({
    once: holder.namespace,
    reason: 'RetainedBeyondBounds',
    note: `${address} waits for ${holder.namespace}/${holder.name} beyond the bounds: its namespace has too many such addresses (GC_RETAINED_PER_NAMESPACE), or this holder has had another one since; it is freed unless its pod comes back soon (GC_RETAINED_BEYOND_BOUNDS_DURATION)`,
  }),
  'two-pods-claim-it': ({ name, spec }) => ({
    once: name,
    reason: 'AddressClaimedTwice',
    note: `more than one living pod has ${spec.address} in its status; its record is left as it is`,
  }),
};

/** Reports, once a term, why a record cannot be judged. */
export class KeepReporter {
  readonly #events: Events;
  readonly #log: Logger;
  readonly #reported = new Set<string>();

  constructor(events: Events, log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  kept(record: IpRecord, verdict: Verdict & { do: 'keep' }): void {
    const found = KEEP_REASONS[verdict.why].report ? NOTES[verdict.why]?.(record) : undefined;
    if (found === undefined) return;
    const { once, reason, note } = found;
    const key = `${reason}/${once}`;
    if (this.#reported.has(key)) return;
    if (this.#reported.size >= MOST) this.#reported.clear();
    this.#reported.add(key);
    this.#log.warn({ record: record.name, because: verdict.why, why: note }, 'record kept, it cannot be judged');
    const { name, uid } = record;
    const regarding = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name, uid };
    this.#events.emit({ regarding, type: 'Warning', reason, note });
  }
}
