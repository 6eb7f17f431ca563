import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { exchange } from './node-exchange.ts';
import { spool } from './node-spool.ts';
import { readStdin } from './node-stdin.ts';
import { decodeUtf8 } from './node-utf8.ts';
import type { PluginIo } from './plugin-io.ts';

const FULL_PIPE_PAUSE_MS = 5;
const FULL_PIPE_PATIENCE_MS = 10_000;

/** PluginIo on Node, for machines without the QuickJS host. */
export function nodeIo(env: NodeJS.ProcessEnv, stdin: Readable): PluginIo {
  return {
    env: (name) => env[name],
    nowMs: () => performance.now(),
    sleep: (ms) => new Promise((wake) => setTimeout(wake, ms)),
    encodeUtf8: (text) => new TextEncoder().encode(text),
    decodeUtf8,
    readStdin: (limitBytes, timeoutMs) => readStdin(stdin, limitBytes, timeoutMs),
    exchange,
    spool: async (directory, name, text, maxFiles) => spool(directory, name, text, maxFiles),
    writeStdout,
  };
}

/** Synchronous, so that the process may exit right after it. */
function writeStdout(text: string): boolean {
  const bytes = Buffer.from(text);
  const untilMs = performance.now() + FULL_PIPE_PATIENCE_MS;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      // A parent may have made the pipe non-blocking; anything but "full" (EPIPE, ENOSPC) is the end.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > untilMs) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
    }
  }
  return true;
}
