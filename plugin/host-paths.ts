import { isPlainText, quote } from '#pkg/cni/text-bounds.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { readVariable } from './environment.ts';
import type { PluginIo } from './plugin-io.ts';

const MAX_PATH = 4096;
/** `sun_path` of a Unix socket address without its closing NUL. */
const MAX_SOCKET_PATH = 107;

/** The runtime's own environment may say another place; network configuration never can. */
export function socketPath(io: PluginIo): string {
  return pathFrom(io, 'IPLEDGER_SOCKET', MAX_SOCKET_PATH) ?? '/var/run/spidernet/spiderpool.sock';
}

export function spoolDirectory(io: PluginIo): string {
  return pathFrom(io, 'IPLEDGER_SPOOL', MAX_PATH) ?? '/var/lib/ipledger/spool';
}

function pathFrom(io: PluginIo, name: string, maxLength: number): string | null {
  const path = readVariable(io, name) ?? '';
  if (path === '') return null;
  if (path.startsWith('/') && isPlainText(path, maxLength)) return path;
  throw new IpamError(
    'bad-environment',
    `${name} must be an absolute path of at most ${maxLength} characters, not ${quote(path)}`,
  );
}
