import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import type { Route } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import type { Holder } from '#pkg/record/ip-record.ts';

/** The holder of a call, and the facts that the rules may use. The allocator sets `attachGeneration`. */
export interface HolderFacts {
  readonly holder: Omit<Holder, 'attachGeneration'> & { readonly uid: string; readonly containerID: string };
  readonly request: PoolRequest;
  /** The controller that the pod itself names; `request.controller` stands above it. */
  readonly controlledBy: OwnerReference | null;
  /** The pod of the call, which a VMI outlives; empty if there is none. */
  readonly podName: string;
  /** The holder keeps its addresses from one pod to the next (rule 7): StatefulSet pods and VMIs. */
  readonly isSticky: boolean;
  /** The new pod of a VMI that still runs in its old pod. */
  readonly isMigrationTarget: boolean;
  /** A sandbox came before this one, so there may be records that this agent has not written: from an import, or an older agent. */
  readonly hadSandbox: boolean;
  /** The pod itself says that it is, or was, such a pod. Enough to look at records, not to be given one. */
  readonly hasMigrationMark: boolean;
  /** Routes the pod itself asks for; each belongs to the address whose subnet has its gateway. */
  readonly routes: readonly Route[];
  /** Warnings about the request, one line each. */
  readonly warnings: readonly string[];
}

/** Finds the holder of a call: from the call itself when standalone, from the pod in a cluster. */
export interface HolderSource {
  /** `isFresh`: what was read of the pod's owners before does not count, because it led nowhere. */
  resolve(args: AddArgs, wish?: { readonly isFresh: boolean }): Promise<HolderFacts>;
}
