import type { EnvReader } from './env-reader.ts';

const LEAST_MB = 32;
const MOST_MB = 65_536;

/** The heap that an operator asks for, in MiB; null: it follows the memory limit. The launcher reads it, the daemons only know it. */
export function readHeapMb(reader: EnvReader): number | null {
  return reader.whole('HEAP_MB', 0, LEAST_MB, MOST_MB) || null;
}
