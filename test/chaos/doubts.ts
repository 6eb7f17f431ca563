/** A time in which the ledger may rightly not know what live sandboxes use (rule 9). */
export interface Doubt {
  readonly why: string;
  /** Null: all. */
  readonly addresses: ReadonlySet<string> | null;
  untilMs: number;
  /** When the fault was over: only what was seen after it shows that an address is in order again. */
  overAtMs: number;
  /** Whether a pod may get the address although another sandbox still uses it. */
  mayTake(address: string, uid: string): boolean;
}

/** Excuses what an operator did to the ledger, for each sandbox until its record is seen again, and never for long. */
export class Doubts {
  readonly #open: { readonly doubt: Doubt; readonly confirmed: Set<string> }[] = [];
  readonly #awayUntilMs = new Map<string, number>();

  open(doubt: Doubt): void {
    this.#open.push({ doubt, confirmed: new Set() });
  }

  /** Why the record of this live sandbox may be missing, or be another's; null: it may not. */
  excuse(address: string, sandboxId: string, nowMs: number): string | null {
    const found = this.#open.find(
      ({ doubt, confirmed }) => applies(doubt, address, nowMs) && !confirmed.has(sandboxId),
    );
    return found?.doubt.why ?? null;
  }

  /** Why this pod may have got an address that another sandbox uses; null: it may not. */
  excuseTaker(address: string, uid: string, nowMs: number): string | null {
    const found = this.#open.find(({ doubt }) => applies(doubt, address, nowMs) && doubt.mayTake(address, uid));
    return found?.doubt.why ?? null;
  }

  /** Whether a fault about all addresses was not over at that time: what was seen until then may have been forgotten. */
  wentBackSince(listedAtMs: number): boolean {
    return this.#open.some(({ doubt }) => doubt.addresses === null && doubt.overAtMs >= listedAtMs);
  }

  /** The agent of that node is killed or paused until then. */
  noteAway(node: string, untilMs: number): void {
    this.#awayUntilMs.set(node, untilMs);
  }

  /**
   * Whether the agent of that node was away after a fault about all addresses. The controller gives machines nothing new while agents
   * write lost records back: a minute, of which ten seconds are left here, and an agent that is away for five may be too late.
   */
  wasAwayAfterRestore(node: string, nowMs: number): boolean {
    const awayUntilMs = this.#awayUntilMs.get(node) ?? 0;
    return this.#open.some(
      ({ doubt }) => doubt.addresses === null && nowMs < doubt.untilMs && awayUntilMs >= doubt.overAtMs,
    );
  }

  /** A list that began at `listedAtMs` has the record of this sandbox. */
  confirm(sandboxId: string, listedAtMs: number): void {
    for (const { doubt, confirmed } of this.#open) if (listedAtMs > doubt.overAtMs) confirmed.add(sandboxId);
  }
}

function applies({ addresses, untilMs }: Doubt, address: string, nowMs: number): boolean {
  return nowMs < untilMs && (addresses === null || addresses.has(address));
}
