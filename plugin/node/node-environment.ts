import { readFileSync } from 'node:fs';
import { decodeUtf8 } from './node-utf8.ts';

const REPLACEMENT = '\ufffd';

/** Node puts U+FFFD in the place of bytes that are not UTF-8; whether it did, only the system's own copy can tell. */
export function readNodeVariable(env: NodeJS.ProcessEnv, name: string): string | undefined | null {
  const value = env[name];
  if (value?.includes(REPLACEMENT) !== true) return value;
  const raw = findEntry(readFileSync('/proc/self/environ'), `${name}=`);
  return raw === undefined ? value : decodeUtf8(raw);
}

function findEntry(environment: Buffer, start: string): Uint8Array | undefined {
  for (let at = 0, end = 0; at < environment.length; at = end + 1) {
    end = environment.indexOf(0, at);
    if (end < 0) end = environment.length;
    const entry = environment.subarray(at, end);
    if (entry.indexOf(start) === 0) return entry.subarray(start.length);
  }
  return undefined;
}
