import type { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** Why this agent is not the one to give a record back on an operator's word; null where it is. */
export type RefuseRelease = (record: IpRecord) => Promise<IpamError | null>;

/** Without Kubernetes there is no controller that could do it. */
export const RELEASES_ALL: RefuseRelease = async () => null;
