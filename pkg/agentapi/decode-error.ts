import { isJsonObject, parseBoundedJson } from '#pkg/cni/json-bounds.ts';
import { clip } from '#pkg/cni/text-bounds.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isReason } from '#pkg/errors/reasons.ts';

const MAX_MESSAGE = 1024;
const MAX_DETAILS = 8 * 1024;

/** The error behind an answer that is no success: ours carries a reason, Spiderpool's agent says one JSON string. */
export function decodeError(status: number, text: string): IpamError {
  const body = parseLeniently(text);
  if (typeof body === 'string' && body !== '') return new IpamError('internal', clip(body, MAX_MESSAGE));
  const { reason, message, details } = isJsonObject(body)
    ? (body as { reason?: unknown; message?: unknown; details?: unknown })
    : {};
  return new IpamError(
    isReason(reason) ? reason : 'internal',
    typeof message === 'string' && message !== ''
      ? clip(message, MAX_MESSAGE)
      : `the agent answered with status ${status}`,
    { details: typeof details === 'string' ? clip(details, MAX_DETAILS) : '' },
  );
}

function parseLeniently(text: string): unknown {
  try {
    return parseBoundedJson(text, 'the answer', 'bad-input');
  } catch {
    return undefined;
  }
}
