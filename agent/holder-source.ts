import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { Holder } from '#pkg/crd/ip-record.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';

/** Who asks, and what the rules may know of it. `attach` is the allocator's to count. */
export interface HolderFacts {
  readonly holder: Omit<Holder, 'attach'> & { readonly uid: string; readonly containerID: string };
  readonly request: PoolRequest;
}

/** Where the agent learns who stands behind a call: the call itself when standalone, the pod in a cluster. */
export interface HolderSource {
  resolve(args: AddArgs): Promise<HolderFacts>;
}
