import type { Dialect } from '#agent/probe/wire/dialect.ts';
import { type ExchangeOutcome, type ExchangePlan, ProbeExchange, type ProbeQuestion } from './exchange.ts';

const SEND_RETRIES = 3;
/** More than the buffer of a socket holds, so that a drain reads every frame that arrived before it. */
const MOST_FRAMES = 1024;

/** Frames are not kept, so all conversations of the process share this buffer. */
const frame = Buffer.alloc(2048);

export interface Wire {
  /** Throws if the frame cannot be sent. */
  send(frame: Buffer): void;
  /** The length of the next frame, or null when none is waiting. */
  receive(into: Buffer): number | null;
}

/** An exchange on one wire. */
export class Conversation {
  readonly #wire: Wire;
  readonly #dialect: Dialect;
  readonly #exchange: ProbeExchange;
  #failures = 0;

  constructor(wire: Wire, dialect: Dialect, plan: ExchangePlan) {
    this.#wire = wire;
    this.#dialect = dialect;
    this.#exchange = new ProbeExchange(plan);
  }

  /** Call it at every tick. It reads first, so that a waiting answer is never taken for silence. */
  step(nowMs: number): ExchangeOutcome | null {
    this.#hear();
    const outcome = this.#exchange.outcome(nowMs);
    if (outcome !== null) return outcome;
    const question = this.#exchange.due(nowMs);
    if (question !== null && this.#ask(question)) this.#exchange.asked(question, nowMs);
    return null;
  }

  #hear(): void {
    for (let count = 0; count < MOST_FRAMES; count += 1) {
      const length = this.#wire.receive(frame);
      if (length === null) return;
      const sighting = this.#dialect.read(frame.subarray(0, length));
      if (sighting !== null) this.#exchange.see(sighting);
    }
  }

  /** False if sending failed and will be tried again. */
  #ask(question: ProbeQuestion): boolean {
    const { probe, gatewayRequest } = this.#dialect;
    try {
      this.#wire.send(question === 'gateway' ? (gatewayRequest ?? probe) : probe);
      this.#failures = 0;
      return true;
    } catch (thrown) {
      this.#failures += 1;
      if (this.#failures > SEND_RETRIES) throw thrown;
      return false;
    }
  }
}
