import { isVerb, type Verb } from '#pkg/cni/versions.ts';
import type { PluginIo } from './plugin-io.ts';

/** How long a verb may take. */
interface Budget {
  /** From the start of the call to its answer, reading stdin included. */
  readonly totalMs: number;
  /** How long an agent that is away or still starting is waited for. */
  readonly patienceMs: number;
  /** Kept for what is left to do when the agent does not answer. */
  readonly reserveMs: number;
}

const BUDGETS: Readonly<Record<Verb, Budget>> = {
  ADD: { totalMs: 30_000, patienceMs: 10_000, reserveMs: 0 },
  DEL: { totalMs: 10_000, patienceMs: 5_000, reserveMs: 500 },
  CHECK: { totalMs: 10_000, patienceMs: 10_000, reserveMs: 0 },
  GC: { totalMs: 10_000, patienceMs: 10_000, reserveMs: 0 },
  STATUS: { totalMs: 10_000, patienceMs: 2_000, reserveMs: 0 },
  VERSION: { totalMs: 10_000, patienceMs: 0, reserveMs: 0 },
};

/** One CNI call on its way. */
export interface PluginCall {
  readonly io: PluginIo;
  readonly budget: Budget;
  readonly startedMs: number;
}

export function startCall(io: PluginIo): PluginCall {
  const command = io.env('CNI_COMMAND') ?? '';
  return { io, budget: isVerb(command) ? BUDGETS[command] : BUDGETS.VERSION, startedMs: io.nowMs() };
}

/** Milliseconds left to print the answer. */
export function printingMs(call: PluginCall): number {
  return Math.max(0, call.startedMs + call.budget.totalMs - call.io.nowMs());
}

/** Milliseconds left for the agent. */
export function remainingMs(call: PluginCall): number {
  return call.startedMs + call.budget.totalMs - call.budget.reserveMs - call.io.nowMs();
}
