import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { DEFAULT_SOCKET } from '#pkg/agentapi/paths.ts';
import { decodeUtf8 } from '#plugin/node/node-io.ts';
import { run } from '#plugin/run.ts';
import type { FuzzCase } from './fuzz-cases.ts';

export interface Outcome {
  /** A signal's name if one ended it. */
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs cases, one after the other. */
export interface Driver extends AsyncDisposable {
  run(it: FuzzCase): Promise<Outcome>;
}

const HANG_MS = 60_000;

/** A process for each case, against an agent on a real socket. */
export function driveProcesses(executable: string): Driver {
  const directory = mkdtempSync(join(tmpdir(), 'ipledger-fuzz-'));
  const socket = join(directory, 'agent.sock');
  let answer: Buffer = Buffer.alloc(0);
  const agent = createServer((line) => {
    line.on('error', () => {});
    line.once('data', () => line.end(answer));
  }).listen(socket);
  return {
    async run(it) {
      answer = it.answer;
      const env = { ...it.env, IPLEDGER_SOCKET: socket, IPLEDGER_SPOOL: join(directory, 'spool') };
      const child = spawn(executable, [], { env, timeout: HANG_MS, killSignal: 'SIGKILL' });
      child.stdin.on('error', () => {}); // the plugin may end before it has read everything
      child.stdin.end(it.stdin);
      const ended = new Promise<number | string | null>((resolve) =>
        child.on('close', (code, signal) => resolve(signal ?? code)),
      );
      const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      return { code, stdout: stdout.replaceAll(socket, DEFAULT_SOCKET), stderr };
    },
    async [Symbol.asyncDispose]() {
      await new Promise((closed) => agent.close(closed));
      rmSync(directory, { recursive: true });
    },
  };
}

/** One process for all cases (plugin/host/examples/replay.rs): the same bytecode on the same engine, with scripted I/O. */
export function driveReplay(executable: string): Driver {
  const child = spawn(executable, [], { stdio: ['pipe', 'pipe', 'pipe'] });
  const stderr = buffer(child.stderr);
  const ended = new Promise<number | string | null>((resolve) =>
    child.on('close', (code, signal) => resolve(signal ?? code)),
  );
  child.stdin.on('error', () => {});
  const fields = readFields(child.stdout);
  return {
    async run(it) {
      child.stdin.write(encodeCase(it));
      const [code, stdout] = [await fields.next(), await fields.next()];
      if (code.done || stdout.done) return { code: await ended, stdout: '', stderr: String(await stderr) };
      return { code: code.value[0] ?? null, stdout: stdout.value.toString('utf8'), stderr: '' };
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

/** The answer of the same TypeScript on Node: both engines must agree. */
export async function runOnNode(it: FuzzCase): Promise<Outcome> {
  let [nowMs, stdout] = [0, ''];
  const code = await run({
    env: (name) => it.env[name],
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    encodeUtf8: (words) => new TextEncoder().encode(words),
    decodeUtf8,
    readStdin: async (limitBytes) => {
      if (it.stdin.length > limitBytes) return { kind: 'oversized' };
      const words = decodeUtf8(it.stdin);
      return words === null ? { kind: 'not-utf8' } : { kind: 'text', text: words };
    },
    exchange: async (_path, _request, limitBytes) => {
      if (it.answer.length === 0) return { kind: 'dropped' };
      return it.answer.length > limitBytes ? { kind: 'oversized' } : { kind: 'answer', bytes: it.answer };
    },
    spool: async () => ({ kind: 'written' }),
    writeStdout: (words) => {
      stdout += words;
      return true;
    },
  });
  return { code, stdout, stderr: '' };
}

function encodeCase({ env, stdin, answer }: FuzzCase): Buffer {
  const variables = Object.entries(env);
  const fields = [...variables.flat().map((words) => Buffer.from(words)), stdin, answer];
  return Buffer.concat([lengthOf(variables.length), ...fields.flatMap((field) => [lengthOf(field.length), field])]);
}

function lengthOf(size: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(size);
  return bytes;
}

async function* readFields(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
      const end = 4 + rest.readUInt32LE(0);
      yield rest.subarray(4, end);
      rest = rest.subarray(end);
    }
  }
}
