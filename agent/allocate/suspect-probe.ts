import { type Call, throwIfAbandoned, writeLimits } from '#agent/calls/call.ts';
import { SYSTEM_TIMING, sleep } from '#pkg/kube/transport/timing.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import type { AddressProbe, Answering } from './address-probe.ts';

const ROUNDS = 3;
const PAUSE_MS = 1_000;

/** Ends early, without an error, when the signal fires. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

export interface SuspectProbeDeps {
  readonly probe: Pick<AddressProbe, 'whoAnswers'>;
  /** How long one round takes. */
  readonly windowMs: number;
  readonly nowMs: () => number;
  readonly pause?: Pause;
}

/**
 * Rule 6: one silent round is too little for a Suspect address, because its sandbox may live and be slow to answer. Its own
 * agent may even see it, but the agent that asks here cannot know that.
 */
export class SuspectProbe {
  readonly #deps: SuspectProbeDeps;

  constructor(deps: SuspectProbeDeps) {
    this.#deps = deps;
  }

  /** `silence` only after silence in every round. Where the call has no time for all of them, nothing is known. */
  async whoAnswers(spec: RecordSpec, pool: Pool, call: Call): Promise<Answering> {
    const { probe, nowMs, pause = sleepFor } = this.#deps;
    const { deadlineMs = call.deadlineMs } = writeLimits(call);
    for (let left = ROUNDS; left > 0; left -= 1) {
      if (left < ROUNDS) await pause(PAUSE_MS, call.signal);
      throwIfAbandoned(call);
      if (nowMs() + this.#durationMs(left) > deadlineMs) return 'unknown';
      const answering = await probe.whoAnswers(spec, pool, call);
      if (answering !== 'silence') return answering;
    }
    return 'silence';
  }

  #durationMs(rounds: number): number {
    return rounds * this.#deps.windowMs + (rounds - 1) * PAUSE_MS;
  }
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(SYSTEM_TIMING, ms, signal);
}
