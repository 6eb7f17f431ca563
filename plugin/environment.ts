import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { PluginIo } from './plugin-io.ts';

/** A variable of the call. Bytes that are no text are refused: replaced by something similar they would name another thing. */
export function readVariable(io: PluginIo, name: string): string | undefined {
  const value = io.env(name);
  if (value === null) throw new IpamError('bad-environment', `${name} is not UTF-8`);
  return value;
}
