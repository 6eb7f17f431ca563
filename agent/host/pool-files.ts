import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseAllDocuments } from 'yaml';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeReservedIp, type ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { findRepeatedKey, lineOfPath } from './yaml-line.ts';

const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 1_000;

export interface PoolFile {
  readonly pools: readonly { readonly pool: Pool; readonly where: string }[];
  readonly reservedIps: readonly ReservedIp[];
}

export type ReadText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

export type ParsedFile =
  | { readonly ok: true; readonly content: PoolFile }
  /** Each is one line of text that names the file and the line in it. */
  | { readonly ok: false; readonly problem: string };

/** Every YAML file of the directory, by name. Throws when the directory itself cannot be read. */
export async function listPoolFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory).catch((thrown: unknown) => {
    throw new IpamError(
      'bad-config',
      `the pools directory ${directory} cannot be read: ${toIpamError(thrown).message}`,
      { cause: thrown },
    );
  });
  const names = entries.filter((name) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.')).toSorted();
  if (names.length > MAX_FILES) {
    throw new IpamError(
      'bad-config',
      `the pools directory ${directory} holds ${names.length} files; at most ${MAX_FILES} are read`,
    );
  }
  return names;
}

/** The text of one file, or why it cannot be used. */
export async function readPoolText(directory: string, name: string): Promise<ReadText> {
  try {
    // Not blocking: opening a pipe would wait for a writer.
    await using file = await open(join(directory, name), constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return { ok: false, problem: `${name}: it is not a plain file` };
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_FILE_BYTES) return { ok: false, problem: `${name}: more than ${MAX_FILE_BYTES} bytes` };
    return { ok: true, text: buffer.toString('utf8', 0, bytesRead) };
  } catch (thrown) {
    return { ok: false, problem: `${name}: ${toIpamError(thrown).message}` };
  }
}

export function parsePoolFile(name: string, text: string): ParsedFile {
  const lines = new LineCounter();
  const pools: { pool: Pool; where: string }[] = [];
  const reservedIps: ReservedIp[] = [];
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: false });
  for (const document of 'empty' in documents ? [] : documents) {
    const [fault] = document.errors;
    const repeated = fault === undefined ? findRepeatedKey(document) : null;
    if (repeated !== null) {
      return {
        ok: false,
        problem: `${name}:${lines.linePos(repeated.at).line}: the key ${repeated.key} is there twice`,
      };
    }
    if (fault !== undefined)
      return { ok: false, problem: `${name}:${fault.linePos?.[0].line ?? 1}: ${firstLine(fault.message)}` };
    try {
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      if (value === null) continue;
      const kind = kindOf(value);
      if (kind === 'SpiderIPPool')
        pools.push({ pool: decodePool(value), where: `${name}:${lineOfPath(document, lines, '')}` });
      else if (kind === 'SpiderReservedIP') reservedIps.push(decodeReservedIp(value));
      else
        throw new IpamError(
          'bad-input',
          `kind: ${JSON.stringify(kind)} is not known here; expected SpiderIPPool or SpiderReservedIP`,
        );
    } catch (thrown) {
      const { message } = toIpamError(thrown);
      return { ok: false, problem: `${name}:${lineOfPath(document, lines, message)}: ${message}` };
    }
  }
  return { ok: true, content: { pools, reservedIps } };
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.replace(/:$/, '') ?? '';
}
