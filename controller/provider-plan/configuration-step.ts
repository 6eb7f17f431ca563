import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { ConfigurationStatus } from './configuration-status.ts';
import type { AllocationDraft } from './draft-allocation.ts';

/** One kind of write, or none. Each is decided by looking whether it is done already, so a crash between two of them costs nothing. */
export type ConfigurationStep =
  | { readonly do: 'rest' }
  /** Finalizer and annotation: from now on its IPAllocations are ended before it goes. */
  | { readonly do: 'sign'; readonly metadata: Readonly<Record<string, unknown>> }
  | { readonly do: 'delete'; readonly allocations: readonly IpAllocation[] }
  | { readonly do: 'create'; readonly drafts: readonly AllocationDraft[] }
  | { readonly do: 'write-status'; readonly status: ConfigurationStatus }
  /** It may go, or belongs to another operator now. */
  | { readonly do: 'let-go'; readonly metadata: Readonly<Record<string, unknown>> };
