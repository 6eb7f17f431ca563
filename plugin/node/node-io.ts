import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { PluginIo } from '#plugin/plugin-io.ts';
import { readNodeVariable } from './node-environment.ts';
import { exchangeOverSocket } from './node-exchange.ts';
import { spool } from './node-spool.ts';
import { readNodeStdin } from './node-stdin.ts';
import { decodeUtf8 } from './node-utf8.ts';

const FULL_PIPE_PAUSE_MS = 5;
const LAST_WORDS_PATIENCE_MS = 1000;

/** PluginIo on Node, for machines without the QuickJS host. */
export function nodeIo(env: NodeJS.ProcessEnv, stdin: Readable): PluginIo {
  return {
    env: (name) => readNodeVariable(env, name),
    nowMs: () => performance.now(),
    sleep: (ms) => new Promise((wake) => setTimeout(wake, ms)),
    encodeUtf8: (text) => new TextEncoder().encode(text),
    decodeUtf8,
    readStdin: (limitBytes, timeoutMs) => readNodeStdin(stdin, limitBytes, timeoutMs),
    exchange: exchangeOverSocket,
    spool: async (directory, name, text, maxFiles) => spool(directory, name, text, maxFiles),
    writeStdout,
  };
}

/** Synchronous, so that the process may exit right after it. */
function writeStdout(text: string, timeoutMs: number): boolean {
  const bytes = Buffer.from(text);
  const untilMs = performance.now() + Math.max(timeoutMs, LAST_WORDS_PATIENCE_MS);
  const fd = openUnblocked();
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      // Anything but "full" (EPIPE, ENOSPC) is the end.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > untilMs) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_PAUSE_MS);
    }
  }
  return true;
}

/** A pipe of its own mode: a write to one that is full would never return, and others share the one we were given. */
function openUnblocked(): number {
  try {
    return fstatSync(1).isFIFO() ? openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK) : 1;
  } catch {
    return 1;
  }
}
