import type { GcArgs } from '#pkg/agentapi/wire.ts';
import type { Call } from '../call.ts';
import type { NodeIndex } from '../node-index.ts';
import { attachmentKey } from './attachment.ts';
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
): Promise<Released[]> {
  const valid = new Set(args.validAttachments.map(attachmentKey));
  const garbage = index.ofNetwork(args.network).filter(({ record, writtenAtMs }) => {
    const { containerID, interface: ifName } = record.spec.holder;
    if (record.spec.state !== 'Allocated' || containerID === undefined) return false;
    return writtenAtMs < call.begunAtMs && !valid.has(attachmentKey({ containerID, ifName }));
  });
  return await Promise.all(
    garbage.map(async ({ record }) => ({ record, outcome: await releaser.releaseJudged(record, call.begunAtMs) })),
  );
}
