import { JsonFields } from '#pkg/cni/json-fields.ts';
import { decodeCallExtras } from './call-extras.ts';
import { decodeInterface, decodeNetns, decodeWireHolder } from './decode-holder.ts';
import type { BatchDelArgs, DelArgs } from './wire.ts';

export function decodeDelArgs(body: unknown): DelArgs {
  return delArgsOf(JsonFields.of(body, 'the body of DEL', 'bad-input'));
}

export function delArgsOf(fields: JsonFields): DelArgs {
  return {
    ...decodeWireHolder(fields),
    ifName: decodeInterface(fields, 'ifName'),
    ...decodeNetns(fields),
    ...decodeCallExtras(fields),
  };
}

export function decodeBatchDelArgs(body: unknown): BatchDelArgs {
  const fields = JsonFields.of(body, 'the body of a batch DEL', 'bad-input');
  const isReleaseConflictIPs = fields.optionalFlag('isReleaseConflictIPs');
  return {
    ...decodeWireHolder(fields),
    ...decodeNetns(fields),
    ...(isReleaseConflictIPs === undefined ? {} : { isReleaseConflictIPs }),
  };
}
