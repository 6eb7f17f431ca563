import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { Route } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import type { Holder } from '#pkg/record/ip-record.ts';

/** Who asks, and what the rules may know of it. `attachGeneration` is the allocator's to count. */
export interface HolderFacts {
  readonly holder: Omit<Holder, 'attachGeneration'> & { readonly uid: string; readonly containerID: string };
  readonly request: PoolRequest;
  /** The pod behind the call, which a virtual machine outlives; empty where there is none. */
  readonly podName: string;
  /** Keeps its addresses from one pod to the next (rule 7): StatefulSet pods and virtual machines. */
  readonly isSticky: boolean;
  /** The new pod of a virtual machine that is still running in its old one. */
  readonly isMigrationTarget: boolean;
  /** Routes the pod itself asks for; each belongs to the address whose subnet has its gateway. */
  readonly routes: readonly Route[];
  /** What the requester should know of its request, each said in one line. */
  readonly warnings: readonly string[];
}

/** Where the agent learns who stands behind a call: the call itself when standalone, the pod in a cluster. */
export interface HolderSource {
  resolve(args: AddArgs): Promise<HolderFacts>;
}
