import type { AddArgs } from '#pkg/agentapi/wire.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { WriteLimits } from '#pkg/ledger/ledger.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import { holderKey } from '#pkg/record/ip-record.ts';

/** One request under way: how long its caller will wait, and whether the caller is still there. */
export interface Call {
  /** When the runtime made the call; the plugin may have waited for the agent since. */
  readonly begunAtMs: number;
  readonly arrivedAtMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export function throwIfAbandoned(call: Call): void {
  if (call.signal.aborted)
    throw new IpamError('caller-gone', 'the caller closed the connection before its answer was ready');
}

export function timeLeftMs(call: Call, nowMs: number): number {
  return Math.max(0, call.deadlineMs - nowMs);
}

/** What is left of a call's time after its writes: to give back what it took, and to answer. */
const ROLL_BACK_MS = 5_000;

/** Until when a write for this call may go on; half of what is left where that is little. */
export function writeLimits(call: Call): WriteLimits {
  const totalMs = call.deadlineMs - call.arrivedAtMs;
  return { deadlineMs: call.deadlineMs - Math.min(ROLL_BACK_MS, totalMs / 2) };
}

/** One interface of one container: what DEL names, and what calls for it queue on. */
export interface Attachment {
  readonly containerID: string;
  readonly ifName: string;
}

export function attachmentKey({ containerID, ifName }: Attachment): string {
  return `attachment ${containerID} ${ifName}`;
}

/** The key of the queue for one interface of a pod. It is the same for all sandboxes of the pod. */
export function nicKey(holder: Parameters<typeof holderKey>[0]): string {
  return `holder ${holderKey(holder, 4)}`;
}

/** The part of a holder that the CNI call names, with or without Kubernetes. */
export function attachmentIn({ ifName, network, containerID }: AddArgs) {
  return { interface: ifName, ...(network === undefined ? {} : { network }), containerID };
}

/** What the network configuration of the call asks for. */
export function cniConfigIn(args: AddArgs): PoolRequest['cniConfig'] {
  return {
    ipv4: args.defaultIPv4IPPool ?? [],
    ipv6: args.defaultIPv6IPPool ?? [],
    cleanGateway: args.cleanGateway ?? false,
    matchMasterSubnet: args.matchMasterSubnet ?? false,
  };
}

/**
 * Tasks that share a key run one after the other, in the order they were handed in; others run at once.
 * A task with several keys waits for all of them. No deadlock: a task only ever waits for earlier ones.
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  run<T>(keys: readonly string[], task: () => Promise<T>): Promise<T> {
    const turn = Promise.all(keys.map((key) => this.#tails.get(key))).then(task);
    const settled = turn.then(ignore, ignore);
    const tail = settled.then(() => {
      for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    for (const key of keys) this.#tails.set(key, tail);
    return turn;
  }

  get size(): number {
    return this.#tails.size;
  }
}

function ignore(): void {}
