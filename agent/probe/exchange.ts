import type { Sighting } from '#agent/probe/wire/dialect.ts';
import { Asking } from './asking.ts';

const GATEWAY_TRIES = 3;
const GATEWAY_TRY_MS = 100;

export type ProbeQuestion = 'address' | 'gateway';

export type ExchangeOutcome =
  | { readonly kind: 'free' }
  | { readonly kind: 'conflict'; readonly mac: string }
  | { readonly kind: 'gateway-unreachable' };

export interface ExchangePlan {
  readonly detectConflict: boolean;
  readonly detectGateway: boolean;
  readonly windowMs: number;
  readonly count: number;
  readonly ignoredMac?: string;
}

/** When each question was sent, which answers came, and what follows from them. It has no clock and no socket. */
export class ProbeExchange {
  readonly #address: Asking | null;
  readonly #gateway: Asking | null;
  #conflict: string | null = null;
  #isGatewaySeen = false;
  readonly #ignoredMac: string | undefined;

  constructor({ detectConflict, detectGateway, windowMs, count, ignoredMac }: ExchangePlan) {
    this.#ignoredMac = ignoredMac;
    this.#address = detectConflict ? new Asking(count, windowMs / count) : null;
    this.#gateway = detectGateway ? new Asking(GATEWAY_TRIES, GATEWAY_TRY_MS) : null;
  }

  due(nowMs: number): ProbeQuestion | null {
    if (this.#address?.isDue(nowMs)) return 'address';
    // This question has the address as its sender, and peers store that. So all hosts must have had time to answer first.
    if (this.#address !== null && !this.#address.isNearlyOver(nowMs)) return null;
    return !this.#isGatewaySeen && this.#gateway?.isDue(nowMs) ? 'gateway' : null;
  }

  asked(question: ProbeQuestion, nowMs: number): void {
    (question === 'address' ? this.#address : this.#gateway)?.asked(nowMs);
  }

  see({ of, mac }: Sighting): void {
    if (of === 'gateway') this.#isGatewaySeen = true;
    else if (mac !== this.#ignoredMac) this.#conflict ??= mac;
  }

  /** Null while it is open. Silence counts only if every frame that arrived before `nowMs` was passed to `see`. */
  outcome(nowMs: number): ExchangeOutcome | null {
    if (this.#address !== null && this.#conflict !== null) return { kind: 'conflict', mac: this.#conflict };
    if (this.#address?.isOver(nowMs) === false) return null;
    if (this.#gateway === null || this.#isGatewaySeen) return { kind: 'free' };
    return this.#gateway.isOver(nowMs) ? { kind: 'gateway-unreachable' } : null;
  }
}
