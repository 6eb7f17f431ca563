import { spawn } from 'node:child_process';
import { renameSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Stage } from './stage.ts';
import { type AgentAct, answerOf, stdinOf, type Transcript } from './transcript.ts';

/** Long enough for at least one failed connection of the plugin. */
const AWAY_MS = 400;

export interface Ran {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The raw bytes of every connection that sent something. */
  readonly requests: readonly Buffer[];
  readonly tookMs: number;
}

/** Runs the plugin as a process against a scripted agent on a real socket. */
export async function runExecutable(path: string, transcript: Transcript, stage: Stage): Promise<Ran> {
  const requests: Buffer[] = [];
  const acts = [...transcript.agent];
  const agents: Server[] = [];
  if (acts[0] === 'refused') await leaveDeadSocket(stage.socket);
  const isAwayAtFirst = acts[0] === 'missing' || acts[0] === 'refused';
  const speaking = acts.filter((act) => act !== 'missing' && act !== 'refused');
  const listen = () => agents.push(createServer((socket) => play(socket, speaking, requests)).listen(stage.socket));
  if (!isAwayAtFirst) listen();
  else if (speaking.length > 0) setTimeout(listen, AWAY_MS);

  const startedMs = performance.now();
  const child = spawn(path, [], {
    env: { IPLEDGER_SOCKET: stage.socket, IPLEDGER_SPOOL: stage.spool, ...transcript.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {}); // the plugin may end before it has read everything
  if (!transcript.stdinStalls) child.stdin.end(stdinOf(transcript, stage.poison));
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const tookMs = performance.now() - startedMs;
  for (const agent of agents) agent.close();
  return { exitCode, stdout, requests, tookMs };
}

/** A socket file without a listener, as a killed agent leaves it. */
async function leaveDeadSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(`${path}.tmp`, listening));
  renameSync(`${path}.tmp`, path);
  await new Promise((closed) => server.close(closed));
}

function play(socket: Socket, acts: AgentAct[], requests: Buffer[]): void {
  const act = acts.length > 1 ? acts.shift() : acts[0];
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (!isWhole(received)) return;
    requests.push(received);
    if (act === 'drop') socket.destroy();
    else if (typeof act === 'object') socket.end(answerOf(act));
  });
}

function isWhole(request: Buffer): boolean {
  const headEnd = request.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/.exec(request.subarray(0, headEnd).toString())?.[1] ?? '0';
  return request.length >= headEnd + 4 + Number(length);
}
