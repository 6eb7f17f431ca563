import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, 'transcripts');

/** One CNI call as seen from outside, stored as JSON so that every form of the plugin can be compared with it. */
export interface Transcript {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. `$POISON` becomes a directory that the plugin must not touch. */
  readonly stdin: unknown;
  /** Raw bytes instead of `stdin`. */
  readonly stdinBase64?: string;
  readonly stdinRepeat?: number;
  /** White space added at the end of stdin. */
  readonly stdinPadding?: number;
  readonly stdinStalls?: true;
  /** The agent's act on the first, second, … connection; the last one repeats. */
  readonly agent: readonly AgentAct[];
  /** The spool directory before the call; missing by default. */
  readonly spoolIs?: 'full' | 'world-writable' | 'a-symlink';
  /** The call takes too long on a real clock. */
  readonly virtualTimeOnly?: true;
  readonly expected: {
    readonly exitCode: 0 | 1;
    /** Null for no output at all. `{"$matches": "…"}` stands for any text of that form. */
    readonly stdout: unknown;
    readonly requests: readonly WireRequest[];
    readonly spooled?: Readonly<Record<string, unknown>>;
  };
}

export type AgentAct =
  | 'missing'
  | 'refused'
  | 'hang'
  | 'drop'
  | { readonly status: number; readonly body: unknown; readonly chunked?: true }
  /** Sends these bytes `repeat` times and closes the connection. */
  | { readonly raw: string; readonly repeat?: number };

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export function loadTranscripts(): Transcript[] {
  return readdirSync(DIRECTORY)
    .sort()
    .flatMap((file) => JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')) as Transcript[]);
}

export function stdinOf(transcript: Transcript, poison: string): Buffer {
  if (transcript.stdinBase64 !== undefined) return Buffer.from(transcript.stdinBase64, 'base64');
  const text = typeof transcript.stdin === 'string' ? transcript.stdin : JSON.stringify(transcript.stdin);
  const whole = text.replaceAll('$POISON', poison).repeat(transcript.stdinRepeat ?? 1);
  return Buffer.from(whole + ' '.repeat(transcript.stdinPadding ?? 0));
}

/** The bytes that an act sends. */
export function answerOf(act: Extract<AgentAct, object>): Buffer {
  if ('raw' in act) return Buffer.from(act.raw.repeat(act.repeat ?? 1));
  const body = Buffer.from(act.body === null ? '' : JSON.stringify(act.body));
  const head = `HTTP/1.1 ${act.status} X\r\ncontent-type: application/json; charset=utf-8\r\nconnection: close\r\n`;
  if (act.chunked)
    return Buffer.concat([Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n`), ...inChunksOf(3, body)]);
  return Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body]);
}

function inChunksOf(size: number, body: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return [...chunks, Buffer.from('0\r\n\r\n')];
}
