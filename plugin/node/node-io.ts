import { constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import type { Exchange, PluginIo, StdinOutcome } from '#plugin/plugin-io.ts';
import { spool } from './node-spool.ts';

const FULL_PIPE_PAUSE_MS = 5;
const LAST_WORDS_PATIENCE_MS = 1000;
const REPLACEMENT = '\ufffd';
const ABSENT = { ENOENT: 'missing', ECONNREFUSED: 'refused', EAGAIN: 'busy' } as const;

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

/** Node puts U+FFFD in the place of bytes that are not UTF-8; only the bytes of the system show whether it did. */
function readNodeVariable(env: NodeJS.ProcessEnv, name: string): string | undefined | null {
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

export function readNodeStdin(stream: Readable, limitBytes: number, timeoutMs: number): Promise<StdinOutcome> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    const finish = (outcome: StdinOutcome) => {
      clearTimeout(timer);
      stream.destroy();
      resolve(outcome);
    };
    stream.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limitBytes) finish({ kind: 'oversized' });
      else chunks.push(chunk);
    });
    stream.on('end', () => finish(toText(chunks)));
    stream.on('error', (error) => finish({ kind: 'failed', why: error.message }));
  });
}

function toText(chunks: readonly Uint8Array[]): StdinOutcome {
  const text = decodeUtf8(Buffer.concat(chunks));
  return text === null ? { kind: 'not-utf8' } : { kind: 'text', text };
}

export function exchangeOverSocket(
  path: string,
  request: Uint8Array,
  limitBytes: number,
  timeoutMs: number,
  lengthOf: (firstBytes: Uint8Array) => number | null,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const chunks: Uint8Array[] = [];
    let size = 0;
    let whole: number | undefined;
    let isConnected = false;
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    const finish = (ended: Exchange) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(ended);
    };
    const finishAtEnd = () =>
      finish(size === 0 ? { kind: 'dropped' } : { kind: 'answer', bytes: Buffer.concat(chunks) });
    socket.on('connect', () => {
      isConnected = true;
      socket.write(request);
    });
    socket.on('data', (chunk) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limitBytes) return finish({ kind: 'oversized' });
      whole ??= lengthOf(chunk) ?? Number.POSITIVE_INFINITY;
      if (size >= whole) finishAtEnd();
    });
    socket.on('end', finishAtEnd);
    socket.on('error', (error) => {
      if (isConnected) finishAtEnd();
      else finish(notConnected(error));
    });
  });
}

function notConnected(error: NodeJS.ErrnoException): Exchange {
  const why = Object.entries(ABSENT).find(([code]) => code === error.code)?.[1];
  return why === undefined ? { kind: 'failed', why: error.message } : { kind: 'absent', why };
}

/** Null when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
