import type { IpRecord } from './ip-record.ts';

/** What an operator reads who may release an address without proof that its sandbox is gone (rule 6). */
export function describeDoubtfulRelease({ spec: { address } }: IpRecord): string {
  return [
    'In any other case --although-in-doubt (in a report: release-in-doubt) releases it without proof.',
    `If the sandbox is still there, two MACs then answer on ${address}.`,
  ].join(' ');
}
