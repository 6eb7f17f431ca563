import { SystemCallError } from './system-call-error.ts';

/** The probe could not be carried out, so it says nothing about the address. */
export class ProbeFailure extends Error {
  override readonly name: string = 'ProbeFailure';
}

/** The network namespace does not exist, or its path is not allowed. */
export class NetnsFailure extends ProbeFailure {
  override readonly name = 'NetnsFailure';
}

/** Null for errors of this program. */
export function whyFailed(thrown: unknown, link: string): string | null {
  if (thrown instanceof ProbeFailure) return thrown.message;
  if (thrown instanceof SystemCallError) return `${link}: ${thrown.message}`;
  return null;
}
