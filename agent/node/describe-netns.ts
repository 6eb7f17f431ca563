import type { Holder } from '#pkg/record/ip-record.ts';
import type { HostIdentity } from './host-identity.ts';
import { seeNetnsAt } from './netns-at-path.ts';

/** What a record keeps of the place where its sandbox was seen: the evidence for "it is gone" (rule 6). */
type NetnsEvidence = Pick<Holder, 'netns' | 'netnsInode' | 'bootID' | 'machineID'>;

export type DescribeNetns = (path: string) => NetnsEvidence;

/** Nothing for a path that this agent does not see. */
export function describeNetnsOn(host: HostIdentity): DescribeNetns {
  return (path) => {
    const seen = seeNetnsAt(path);
    if (seen === 'missing' || seen === 'hidden') return {};
    return { netns: path, ...(seen === 'other' ? {} : { netnsInode: seen }), ...host };
  };
}
