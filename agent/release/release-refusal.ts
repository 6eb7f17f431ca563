import type { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/**
 * Why this agent does not give a record back on an operator's word; null where it does. `althoughInDoubt`: the operator wants it
 * without proof that the sandbox is gone.
 */
export type RefuseRelease = (record: IpRecord, althoughInDoubt: boolean) => Promise<IpamError | null>;

/** Without Kubernetes there is no controller that could do it. */
export const RELEASES_ALL: RefuseRelease = async () => null;
