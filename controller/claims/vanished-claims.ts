import type { Logger } from 'pino';
import type { Events } from '#pkg/kube/events/events.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

const MOST = 10_000;
/** Our own release and the event of the deleted claim come by different watches. */
const SETTLE_MS = 10_000;

/**
 * Reports, once a term, the records of claims that are gone without having given them back: somebody removed our finalizer, as a move
 * does. The machine may live on elsewhere with the address, so only an operator ends it.
 */
export class VanishedClaims {
  readonly #events: Events;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #goneSinceMs = new Map<string, number>();
  readonly #reported = new Set<string>();

  constructor(deps: { readonly events: Events; readonly log: Logger; readonly nowMs: () => number }) {
    this.#events = deps.events;
    this.#log = deps.log;
    this.#nowMs = deps.nowMs;
  }

  isBack(key: string): void {
    this.#goneSinceMs.delete(key);
  }

  /** Returns when to look again, or undefined. */
  look(key: string, records: readonly IpRecord[]): number | undefined {
    if (records.length === 0) return void this.#goneSinceMs.delete(key);
    const sinceMs = this.#goneSinceMs.get(key) ?? this.#nowMs();
    this.#goneSinceMs.set(key, sinceMs);
    const leftMs = sinceMs + SETTLE_MS - this.#nowMs();
    if (leftMs > 0) return leftMs;
    for (const record of records) this.#report(key, record);
    return undefined;
  }

  #report(key: string, { name, uid, spec }: IpRecord): void {
    if (this.#reported.has(uid)) return;
    if (this.#reported.size >= MOST) this.#reported.clear();
    this.#reported.add(uid);
    const note = `the IPAddressClaim ${key} is gone and did not give ${spec.address} back; if no machine has it any more, delete the IPAddress of that name and run: ipledgerctl release ${spec.address}`;
    this.#log.warn({ record: name, claim: key }, note);
    const regarding = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name, uid };
    this.#events.emit({ regarding, type: 'Warning', reason: 'ClaimVanished', note });
  }
}
