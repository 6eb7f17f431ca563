import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseAllDocuments } from 'yaml';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeReservedIp, type ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { lineOfPath } from './yaml-line.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FILES = 1_000;

export interface PoolFile {
  readonly pools: readonly { readonly pool: Pool; readonly where: string }[];
  readonly reservedIps: readonly ReservedIp[];
}

export type ReadFile =
  | { readonly ok: true; readonly content: PoolFile }
  /** Said in one line that names file and line. */
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

export async function readPoolFile(directory: string, name: string): Promise<ReadFile> {
  try {
    const { size } = await stat(join(directory, name));
    if (size > MAX_FILE_BYTES)
      return { ok: false, problem: `${name}: ${size} bytes, at most ${MAX_FILE_BYTES} are read` };
    return parsePoolFile(name, await readFile(join(directory, name), 'utf8'));
  } catch (thrown) {
    return { ok: false, problem: `${name}: ${toIpamError(thrown).message}` };
  }
}

function parsePoolFile(name: string, text: string): ReadFile {
  const lines = new LineCounter();
  const pools: { pool: Pool; where: string }[] = [];
  const reservedIps: ReservedIp[] = [];
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true });
  for (const document of 'empty' in documents ? [] : documents) {
    const [fault] = document.errors;
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
