import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import { type AdmissionVerdict, ALLOWED } from './verdict.ts';

/** The pools and subnets that an object must stand beside. */
export interface Neighbours {
  readonly pools: readonly PoolRanges[];
  readonly subnets: readonly SpiderSubnet[];
}

export interface Judgement {
  /** What is stored, read from the API server. */
  readonly look: () => Promise<Neighbours>;
  /** Called again with other neighbours; it changes nothing. */
  readonly judge: (neighbours: Neighbours) => Promise<AdmissionVerdict | null>;
  readonly admit: () => void;
}

type Claim = Pick<PoolRanges, 'name' | 'uid' | 'addresses'>;

interface Reservation<T> {
  readonly object: T;
  /** The object was there before. */
  readonly isChange: boolean;
  readonly untilMs: number;
}

/** The API server stores what was admitted within milliseconds, or not at all. */
const HELD_FOR_MS = 2_000;
const MOST_HELD = 1_000;
/** Together less than the ten seconds that the API server waits for an answer. */
const PAUSES_MS = [50, 150, 400, 800, 1_600, 2_000];
const NO_NEIGHBOURS: Neighbours = { pools: [], subnets: [] };

/**
 * Objects that were admitted here and may not be stored yet: between the check and the store two of them could pass each other.
 * Only this replica knows them; what passes by way of another is found by the lifecycle, and marked.
 *
 * A reservation alone refuses nothing, because any host that reaches the port can send a review. The review that meets one
 * waits until the reserved object is stored, and is refused then, or until the reservation has ended, and goes on without it.
 */
export class Reservations {
  readonly pools: Reserved<PoolRanges>;
  readonly subnets: Reserved<SpiderSubnet>;
  readonly #pause: (ms: number) => Promise<void>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(nowMs: () => number, pause: (ms: number) => Promise<void>) {
    this.pools = new Reserved(nowMs);
    this.subnets = new Reserved(nowMs);
    this.#pause = pause;
  }

  async decide(judgement: Judgement): Promise<AdmissionVerdict> {
    for (const pauseMs of PAUSES_MS) {
      const verdict = await this.alone(() => this.#attempt(judgement));
      if (verdict !== null) return verdict;
      await this.#pause(pauseMs);
    }
    // Reservations that come one after the other and are never stored are not those of an API server.
    return this.alone(async () => admitIfAllowed(judgement, await judgement.judge(await judgement.look())));
  }

  /** One check at a time, so that each sees what the one before admitted. */
  alone<T>(check: () => Promise<T>): Promise<T> {
    const result = this.#last.then(check, check);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Null where only a reservation is in the way. */
  async #attempt(judgement: Judgement): Promise<AdmissionVerdict | null> {
    const stored = await judgement.look();
    const coming = { pools: this.pools.beyond(stored.pools), subnets: this.subnets.beyond(stored.subnets) };
    const refusal = await judgement.judge(unite(stored, coming));
    const hasComing = coming.pools.length + coming.subnets.length > 0;
    if (refusal !== null && hasComing && (await judgement.judge(stored)) === null) return null;
    return admitIfAllowed(judgement, refusal);
  }
}

/** The reservations of one kind. */
export class Reserved<T extends Claim> {
  readonly #nowMs: () => number;
  /** By uid: only the API server knows it, so another caller can neither replace a reservation nor drop it. */
  readonly #held = new Map<string, Reservation<T>>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  hold(object: T, { isChange }: { readonly isChange: boolean }): void {
    const key = object.uid || object.name;
    this.#held.delete(key);
    this.#held.set(key, { object, isChange, untilMs: this.#nowMs() + HELD_FOR_MS });
    const [oldest] = this.#held.keys();
    if (this.#held.size > MOST_HELD && oldest !== undefined) this.#held.delete(oldest);
  }

  drop(uid: string): void {
    this.#held.delete(uid);
  }

  /**
   * What is reserved beyond what is stored. The API server also asks about changes that it then does not make, of objects that
   * are gone by then: it begins with what it has in its cache.
   */
  beyond(stored: readonly Claim[]): T[] {
    const byName = new Map(stored.map((object) => [object.name, object]));
    for (const [key, { object, isChange, untilMs }] of this.#held) {
      const found = byName.get(object.name);
      const isStored = found?.uid === object.uid && object.addresses.isSubsetOf(found.addresses);
      const isMoot = isChange && found?.uid !== object.uid;
      if (isStored || isMoot || this.#nowMs() >= untilMs) this.#held.delete(key);
    }
    return [...this.#held.values()].map(({ object }) => object);
  }
}

export const withoutNeighbours = async (): Promise<Neighbours> => NO_NEIGHBOURS;

function admitIfAllowed({ admit }: Judgement, refusal: AdmissionVerdict | null): AdmissionVerdict {
  if (refusal !== null) return refusal;
  admit();
  return ALLOWED;
}

function unite(a: Neighbours, b: Neighbours): Neighbours {
  return { pools: [...a.pools, ...b.pools], subnets: [...a.subnets, ...b.subnets] };
}
