import type { IpRecord } from './ip-record.ts';

/** What is wrong with a sandbox that outlives its pod, and what an operator does about it. Completes a sentence about the record. */
export function describeOutliving({ spec }: IpRecord): string {
  const { containerID = '', netns, node } = spec.holder;
  return [
    `whose pod is gone while its network namespace ${netns} on node ${node} still has a link: the address is not released.`,
    `Remove the sandbox on the node with "crictl stopp ${containerID}" and "crictl rmp ${containerID}";`,
    `if the runtime does not know it, end the processes in the namespace and delete it ("ip netns delete")`,
  ].join(' ');
}
