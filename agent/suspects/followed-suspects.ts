import type { PoolView } from '#agent/views/pool-view.ts';
import type { Share } from '#pkg/pool/choose.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';

const MOST_FOLLOWED = 64;

/** What this agent has seen of a Suspect address that it follows. */
export interface Followed {
  readonly name: string;
  readonly pool: string;
  readonly value: bigint;
  /** Null: it was not read yet. */
  readonly seen: IpRecord | null;
  /** Since when `seen` is what every look has found, on the clock of this process. */
  readonly sinceMs: number;
  readonly silentRounds: number;
  readonly dueAtMs: number;
}

/**
 * The Suspect addresses that this agent follows. Of the n nodes of a pool about one begins to follow an address in a round. What was
 * given up, and the share of a node that is dead, is followed by others from later rounds on.
 */
export class FollowedSuspects {
  readonly #followed = new Map<string, Followed>();
  readonly #random: () => number;
  #round: bigint;

  constructor(random: () => number) {
    this.#random = random;
    this.#round = BigInt(Math.floor(random() * 2 ** 32));
  }

  get names(): readonly string[] {
    return [...this.#followed.keys()];
  }

  due(nowMs: number): Followed[] {
    return [...this.#followed.values()].filter(({ dueAtMs }) => dueAtMs <= nowMs);
  }

  put(followed: Followed): void {
    this.#followed.set(followed.name, followed);
  }

  drop(name: string): void {
    this.#followed.delete(name);
  }

  /** One round. It begins anywhere among the addresses, so that the first ones do not keep the others out for ever. */
  beginRound(views: readonly PoolView[], nowMs: number): void {
    const turns = views.flatMap((view) => this.#turnsOf(view));
    const start = Math.floor(this.#random() * turns.length);
    for (const turn of [...turns.slice(start), ...turns.slice(0, start)]) {
      if (this.#followed.size >= MOST_FOLLOWED) break;
      if (!this.#followed.has(turn.name))
        this.put({ ...turn, seen: null, sinceMs: nowMs, silentRounds: 0, dueAtMs: nowMs });
    }
    this.#round += 1n;
  }

  #turnsOf({ pool, suspects, share }: PoolView) {
    return suspects.all
      .filter((value) => isTurn(value, this.#round, share))
      .map((value) => ({ name: recordName({ family: pool.family, value }, pool.domain), pool: pool.name, value }));
  }
}

/** Within `of` rounds each address is each node's turn once. */
function isTurn(value: bigint, round: bigint, { rank, of }: Share): boolean {
  return (value + round) % BigInt(of) === BigInt(rank);
}
