import type { IpRecord } from '#pkg/record/ip-record.ts';

/** `free`: release it. `retain`: keep it for the next pod of its sticky holder. `keep`: the pod lives and gets a new sandbox. */
type ReleaseDecision = 'free' | 'retain' | 'keep';

/** `conflict`: the plugin reports that the address is in conflict; the sandbox is still there. */
export type ReleaseCause = 'sandbox-gone' | 'conflict';

/** Decides what happens to an address that its sandbox gives up. */
export type DecideRelease = (record: IpRecord, cause?: ReleaseCause) => ReleaseDecision;

/** Without Kubernetes nothing outlives its container. */
export const ALWAYS_FREE: DecideRelease = () => 'free';
