import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EnvReader } from '#pkg/config/env-reader.ts';
import { readHeapMb } from '#pkg/config/heap-setting.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { type Daemon, heapSizeMb, isDaemon, newSpaceMb } from '#pkg/memory/heap-size.ts';
import { readMemoryLimit } from '#pkg/memory/memory-limit.ts';

const BUNDLES: Readonly<Record<Daemon, string>> = { agent: 'agent/main.js', controller: 'controller.js' };

/**
 * Starts a daemon in place of this process, because V8 takes the size of its heap only at its start. The image has no shell that
 * could do it: there this program is the daemon's name on the PATH. Elsewhere the first word is the daemon.
 */
function main(script = '', words: readonly string[]): void {
  const named = basename(script).replace('ipledger-', '');
  const [daemon = '', ...rest] = isDaemon(named) ? [named, ...words] : words;
  if (!isDaemon(daemon)) throw new Error('usage: launch.js agent|controller [flags of the daemon]');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const bundle = join(import.meta.dirname, BUNDLES[daemon]);
  const heapMb = heapMbOf(daemon);
  const flags = [`--max-semi-space-size=${newSpaceMb(daemon, heapMb)}`, `--max-old-space-size=${heapMb}`];
  process.execve?.(process.execPath, [process.execPath, ...flags, bundle, ...rest], { ...env, MALLOC_ARENA_MAX: '2' });
}

function heapMbOf(daemon: Daemon): number {
  return readHeapMb(new EnvReader(process.env)) ?? heapSizeMb(daemon, readMemoryLimit(readText));
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

try {
  main(process.argv[1], process.argv.slice(2));
} catch (thrown) {
  process.stderr.write(`${toIpamError(thrown).message}\n`);
  process.exitCode = 1;
}
