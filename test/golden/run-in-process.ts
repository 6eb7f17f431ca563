import { decodeUtf8 } from '#plugin/node/node-io.ts';
import { spool } from '#plugin/node/node-spool.ts';
import type { Exchange, PluginIo } from '#plugin/plugin-io.ts';
import { run } from '#plugin/run.ts';
import type { Ran } from './run-executable.ts';
import type { Stage } from './stage.ts';
import { answerOf, stdinOf, type Transcript } from './transcript.ts';

/** Runs the plugin against a scripted PluginIo whose clock moves only during a wait. */
export async function runInProcess(transcript: Transcript, stage: Stage): Promise<Ran> {
  const env: Record<string, string> = { IPLEDGER_SOCKET: stage.socket, IPLEDGER_SPOOL: stage.spool, ...transcript.env };
  const requests: Buffer[] = [];
  const stdin = stdinOf(transcript, stage.poison);
  let [nowMs, turn, stdout] = [0, 0, ''];

  const exchange = (request: Uint8Array, limitBytes: number, timeoutMs: number): Exchange => {
    const act = transcript.agent[Math.min(turn++, transcript.agent.length - 1)] ?? 'missing';
    if (act === 'missing' || act === 'refused') return { kind: 'absent', why: act };
    requests.push(Buffer.from(request));
    if (act === 'hang') {
      nowMs += timeoutMs;
      return { kind: 'timeout' };
    }
    if (act === 'drop') return { kind: 'dropped' };
    const bytes = answerOf(act);
    return bytes.length > limitBytes ? { kind: 'oversized' } : { kind: 'answer', bytes };
  };

  const io: PluginIo = {
    env: (name) => env[name],
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    encodeUtf8: (text) => new TextEncoder().encode(text),
    decodeUtf8,
    readStdin: async (limitBytes, timeoutMs) => {
      if (transcript.stdinStalls) {
        nowMs += timeoutMs;
        return { kind: 'timeout' };
      }
      if (stdin.length > limitBytes) return { kind: 'oversized' };
      const text = decodeUtf8(stdin);
      return text === null ? { kind: 'not-utf8' } : { kind: 'text', text };
    },
    exchange: async (path, request, limitBytes, timeoutMs) =>
      path === stage.socket ? exchange(request, limitBytes, timeoutMs) : { kind: 'failed', why: `stranger ${path}` },
    spool: async (...args) => spool(...args),
    writeStdout: (text) => {
      stdout += text;
      return true;
    },
  };
  const exitCode = await run(io);
  return { exitCode, stdout, requests, tookMs: nowMs };
}
