import { JsonFields } from '#pkg/cni/json-fields.ts';
import { delArgsOf } from './decode-del-args.ts';
import type { SpooledDel } from './wire.ts';

/** The file of one attachment in the spool directory: the same DEL twice is one file. */
export function spoolFileName(attachment: { readonly containerID: string; readonly ifName: string }): string {
  return `${attachment.containerID}@${percentEncode(attachment.ifName)}.json`;
}

export function decodeSpooledDel(content: unknown): SpooledDel {
  const fields = JsonFields.of(content, 'a spooled DEL', 'bad-input');
  if (fields.raw('version') !== 1) fields.refuse('version', 'must be 1');
  return { version: 1, del: delArgsOf(fields.optionalObject('del') ?? fields.refuse('del', 'is missing')) };
}

function percentEncode(ifName: string): string {
  return encodeURIComponent(ifName).replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
