import { IpamError } from '#pkg/errors/ipam-error.ts';

/** One request under way: how long its caller will wait, and whether the caller is still there. */
export interface Call {
  /** When the runtime made the call; the plugin may have waited for the agent since. */
  readonly begunAtMs: number;
  readonly arrivedAtMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export function throwIfAbandoned(call: Call): void {
  if (call.signal.aborted) throw new IpamError('agent-unavailable', 'the caller went away before its answer was ready');
}

export function timeLeftMs(call: Call, nowMs: number): number {
  return Math.max(0, call.deadlineMs - nowMs);
}
