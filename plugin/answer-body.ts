import { parseBoundedJson } from '#pkg/cni/json-bounds.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

/** A successful answer that cannot be used is a fault between our two programs, not of whoever called us. */
export function decodeAnswerBody<Body>(text: string, decode: (body: unknown) => Body): Body {
  try {
    return decode(parseBoundedJson(text, 'it', 'bad-input'));
  } catch (thrown) {
    const { message, details } = toIpamError(thrown);
    throw new IpamError('internal', `the agent's answer cannot be used: ${message}`, { details, cause: thrown });
  }
}
