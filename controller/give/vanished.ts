import type { Logger } from 'pino';
import type { Events } from '#pkg/kube/events/events.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

const MOST = 10_000;
/** Our own release and the event of the deleted object come by different watches. */
const SETTLE_MS = 10_000;

interface VanishedDeps {
  /** Of the holders. */
  readonly kind: string;
  /** The reason of the Event. */
  readonly reason: string;
  /** What an operator may do. */
  readonly advice: (record: IpRecord) => string;
  readonly events: Events;
  readonly log: Logger;
  readonly nowMs: () => number;
}

/** Reports, once per leadership, the records of objects that are gone without having given them back: our finalizer was removed by another client. */
export class Vanished {
  readonly #deps: VanishedDeps;
  readonly #goneSinceMs = new Map<string, number>();
  readonly #reported = new Set<string>();

  constructor(deps: VanishedDeps) {
    this.#deps = deps;
  }

  isBack(key: string): void {
    this.#goneSinceMs.delete(key);
  }

  /** Returns when to look again, or undefined. */
  look(key: string, records: readonly IpRecord[]): number | undefined {
    if (records.length === 0) return void this.#goneSinceMs.delete(key);
    const nowMs = this.#deps.nowMs();
    const sinceMs = this.#goneSinceMs.get(key) ?? nowMs;
    this.#goneSinceMs.set(key, sinceMs);
    const leftMs = sinceMs + SETTLE_MS - nowMs;
    if (leftMs > 0) return leftMs;
    for (const record of records) this.#report(key, record);
    return undefined;
  }

  #report(key: string, record: IpRecord): void {
    const { kind, reason, advice, events, log } = this.#deps;
    const { name, uid, spec } = record;
    if (this.#reported.has(uid)) return;
    if (this.#reported.size >= MOST) this.#reported.clear();
    this.#reported.add(uid);
    const note = `the ${kind} ${key} (uid ${spec.holder.uid ?? 'unknown'}) is gone and did not give ${spec.address} back; ${advice(record)}`;
    log.warn({ record: name, holder: key }, note);
    const regarding = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name, uid };
    events.emit({ regarding, type: 'Warning', reason, note });
  }
}
