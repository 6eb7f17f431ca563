import { JsonFields } from '#pkg/cni/json-fields.ts';
import { decodeCallExtras, decodeNetwork } from './call-extras.ts';
import { decodeContainerId, decodeInterface } from './decode-holder.ts';
import type { GcArgs, GcResponse } from './wire.ts';

const MAX_ATTACHMENTS = 10_000;

export function decodeGcArgs(body: unknown): GcArgs {
  const fields = JsonFields.of(body, 'the body of GC', 'bad-input');
  return {
    ...decodeCallExtras(fields),
    network: decodeNetwork(fields),
    validAttachments: fields.objects('validAttachments', MAX_ATTACHMENTS).map((attachment) => ({
      containerID: decodeContainerId(attachment),
      ifName: decodeInterface(attachment, 'ifName'),
    })),
  };
}

export function decodeGcResponse(body: unknown): GcResponse {
  const fields = JsonFields.of(body, 'the answer to GC', 'bad-input');
  const released = fields.optionalInteger('released', 0, Number.MAX_SAFE_INTEGER);
  return { released: released ?? fields.refuse('released', 'is missing') };
}
