import { DEFAULT_SOCKET, DEFAULT_SPOOL, LONGEST_SOCKET_PATH } from '#pkg/agentapi/paths.ts';
import { isVerb, type Verb } from '#pkg/cni/result.ts';
import { isPlainText, quoteInput } from '#pkg/cni/untrusted-input.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { PluginIo } from './plugin-io.ts';

const STDIN_LIMIT_BYTES = 1024 * 1024;
const MAX_PATH = 4096;

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
  // A STATUS that fails makes the node NotReady: it outlasts the restart of an agent.
  STATUS: { totalMs: 10_000, patienceMs: 8_500, reserveMs: 0 },
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

/** A variable of the call. Bytes that are no text are refused: replaced by something similar they would name another thing. */
export function readVariable(io: PluginIo, name: string): string | undefined {
  const value = io.env(name);
  if (value === null) throw new IpamError('bad-environment', `${name} is not UTF-8`);
  return value;
}

export async function readStdin(call: PluginCall): Promise<string> {
  const outcome = await call.io.readStdin(STDIN_LIMIT_BYTES, remainingMs(call));
  switch (outcome.kind) {
    case 'text':
      return outcome.text;
    case 'oversized':
      throw new IpamError('bad-input', `the network configuration on stdin is larger than ${STDIN_LIMIT_BYTES} bytes`);
    case 'not-utf8':
      throw new IpamError('bad-input', 'the network configuration on stdin is not UTF-8');
    case 'timeout':
      throw new IpamError('io-failure', `stdin did not end within ${call.budget.totalMs / 1000} s`);
    case 'failed':
      throw new IpamError('io-failure', 'stdin cannot be read', { details: outcome.why });
  }
}

/** The runtime's own environment may say another place; network configuration never can. */
export function socketPath(io: PluginIo): string {
  return pathFrom(io, 'IPLEDGER_SOCKET', LONGEST_SOCKET_PATH) ?? DEFAULT_SOCKET;
}

export function spoolDirectory(io: PluginIo): string {
  return pathFrom(io, 'IPLEDGER_SPOOL', MAX_PATH) ?? DEFAULT_SPOOL;
}

function pathFrom(io: PluginIo, name: string, maxLength: number): string | null {
  const path = readVariable(io, name) ?? '';
  if (path === '') return null;
  if (path.startsWith('/') && isPlainText(path, maxLength)) return path;
  throw new IpamError(
    'bad-environment',
    `${name} must be an absolute path of at most ${maxLength} characters, not ${quoteInput(path)}`,
  );
}
