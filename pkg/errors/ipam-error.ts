import type { Reason } from './reasons.ts';

/** The one error of this project. `message` is one sentence for the person who made the mistake, `details` may be several lines. */
export class IpamError extends Error {
  override readonly name = 'IpamError';
  readonly reason: Reason;
  readonly details: string;

  constructor(reason: Reason, message: string, more: { details?: string; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.reason = reason;
    this.details = more.details ?? '';
  }
}

/** Anything thrown, as an IpamError: what is not one already is a fault of ours. */
export function toIpamError(thrown: unknown): IpamError {
  if (thrown instanceof IpamError) return thrown;
  // QuickJS throws null when not even an error object has room.
  const text = thrown === null ? 'something failed without a word, perhaps for want of memory' : String(thrown);
  const message = thrown instanceof Error ? thrown.message : text;
  return new IpamError('internal', message, { cause: thrown });
}
