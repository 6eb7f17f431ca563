import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { type DecodedConfig, decodeClusterConfig } from './decode-cluster-config.ts';

const MAX_BYTES = 64 * 1024;

/** Reads `conf.yml` once. Every fault is a `bad-config` error that names the file. */
export async function readConfigFile(path: string): Promise<DecodedConfig> {
  try {
    return decodeClusterConfig(parseYaml(await readText(path)));
  } catch (thrown) {
    const { message } = toIpamError(thrown);
    throw new IpamError('bad-config', `${path}: ${message}`, { cause: thrown });
  }
}

async function readText(path: string): Promise<string> {
  // Non-blocking, because open of a named pipe would wait for a writer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await file.stat()).isFile()) throw new IpamError('bad-config', 'it is not a plain file');
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  if (bytesRead > MAX_BYTES) throw new IpamError('bad-config', `it has more than ${MAX_BYTES} bytes`);
  return buffer.toString('utf8', 0, bytesRead);
}

function parseYaml(text: string): unknown {
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault === undefined) return document.toJS({ maxAliasCount: 10 });
  const line = fault.linePos?.[0].line ?? 1;
  throw new IpamError('bad-config', `line ${line}: ${fault.message.split('\n', 1)[0]?.replace(/ at line .*$/, '')}`);
}
