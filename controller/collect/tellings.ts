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
      note: `the API server does not serve ${kind}; the addresses of its holders are kept until it does`,
    };
  },
  'two-pods-claim-it': ({ name, spec }) => ({
    once: name,
    reason: 'AddressClaimedTwice',
    note: `more than one living pod has ${spec.address} in its status; its record is left as it is`,
  }),
};

/** Tells once a term what keeps a record from being judged. */
export class Tellings {
  readonly #events: Events;
  readonly #log: Logger;
  readonly #told = new Set<string>();

  constructor(events: Events, log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  kept(record: IpRecord, verdict: Verdict & { do: 'keep' }): void {
    const told = KEEP_REASONS[verdict.why].report ? NOTES[verdict.why]?.(record) : undefined;
    if (told === undefined) return;
    const { once, reason, note } = told;
    const key = `${reason}/${once}`;
    if (this.#told.has(key)) return;
    if (this.#told.size >= MOST) this.#told.clear();
    this.#told.add(key);
    this.#log.warn({ record: record.name, why: verdict.why }, note);
    const { name, uid } = record;
    const regarding = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name, uid };
    this.#events.tell({ regarding, type: 'Warning', reason, note });
  }
}
