import { attachmentKey, type Call } from '#agent/calls/call.ts';
import type { LookAtNetns } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { GcArgs } from '#pkg/agentapi/wire.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { Released, Releaser } from './releaser.ts';

/**
 * The GC verb: this node's records of this network that the runtime no longer knows. A record written after the call
 * was made belongs to an ADD that the runtime's list could not contain yet.
 */
export async function releaseGarbage(
  args: GcArgs,
  call: Call,
  index: NodeIndex,
  releaser: Releaser,
  look: LookAtNetns,
): Promise<Released[]> {
  const valid = new Set(args.validAttachments.map(attachmentKey));
  const garbage = index.ofNetwork(args.network).filter(({ record, writtenAtMs }) => {
    const { containerID, interface: ifName } = record.spec.holder;
    if (record.spec.state !== 'Allocated' || containerID === undefined) return false;
    return writtenAtMs < call.begunAtMs && !valid.has(attachmentKey({ containerID, ifName }));
  });
  const released = garbage.map(async ({ record }) =>
    (await isSandboxGone(record, look))
      ? [{ record, outcome: await releaser.releaseJudged(record, call.begunAtMs) }]
      : [],
  );
  return (await Promise.all(released)).flat();
}

/**
 * Rule 6: the runtime's list alone is not believed. What is noted of a living pod frees its address at the start of its
 * grace, and two runtimes may use one network name: each does not know the containers of the other.
 */
async function isSandboxGone({ spec }: IpRecord, look: LookAtNetns): Promise<boolean> {
  const { kind, netns, netnsInode } = spec.holder;
  const isContainer = kind === 'Container';
  if (isContainer && netns === undefined) return true;
  const seen = await look(spec.holder);
  // For a record without an inode the missing path is enough: the list of the runtime does not name it either.
  return seen === 'gone' || (seen === 'path-gone' && (isContainer || netnsInode === undefined));
}
