import { readFileSync } from 'node:fs';
import { EnvReader } from '#pkg/config/env-reader.ts';
import { readHeapMb } from '#pkg/config/heap-setting.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { heapSizeMb, isDaemon } from '#pkg/memory/heap-size.ts';
import { readMemoryLimit } from '#pkg/memory/memory-limit.ts';

/** Prints the heap of a daemon in MiB. The launcher asks, because V8 takes the size only at its start. */
function main(daemon = ''): void {
  if (!isDaemon(daemon)) throw new Error('usage: heap.js agent|controller');
  const heapMb = readHeapMb(new EnvReader(process.env)) ?? heapSizeMb(daemon, readMemoryLimit(readText));
  process.stdout.write(`${heapMb}\n`);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

try {
  main(process.argv[2]);
} catch (thrown) {
  process.stderr.write(`${toIpamError(thrown).message}\n`);
  process.exitCode = 1;
}
