import { describe, expect, test } from 'vitest';
import { builtPlugins } from '#test/support/built.ts';
import { type Ran, runExecutable } from './run-executable.ts';
import { runInProcess } from './run-in-process.ts';
import { type Stage, setStage } from './stage.ts';
import { loadTranscripts, type Transcript, type WireRequest } from './transcript.ts';

const transcripts = loadTranscripts();
const executables = await builtPlugins();

/** The time for the start of a process on a busy machine. */
const STARTUP_MS = 5000;

describe('in process', () => {
  test.each(transcripts)('$name', async (transcript) => {
    await hold(transcript, 0, (stage) => runInProcess(transcript, stage));
  });
});

describe.each(executables)('%s', (path) => {
  test.concurrent.each(transcripts.filter(({ virtualTimeOnly }) => !virtualTimeOnly))('$name', async (transcript) => {
    await hold(transcript, STARTUP_MS, (stage) => runExecutable(path, transcript, stage));
  });
});

async function hold(transcript: Transcript, slackMs: number, runPlugin: (stage: Stage) => Promise<Ran>): Promise<void> {
  await using stage = await setStage(transcript);
  const ran = await runPlugin(stage);
  const { expected } = transcript;
  const anonymous = ran.stdout.replaceAll(stage.socket, '$SOCKET').replaceAll(stage.spool, '$SPOOL');
  expect(anonymous === '' ? null : JSON.parse(anonymous)).toEqual(withMatchers(expected.stdout));
  expect(ran.exitCode).toBe(expected.exitCode);
  expect(ran.requests.map(readRequest)).toEqual(expected.requests);
  expect(stage.spooled()).toEqual(expected.spooled ?? {});
  expect(stage.touchesOfPoison()).toEqual([]);
  expect(ran.tookMs).toBeLessThanOrEqual((transcript.env['CNI_COMMAND'] === 'ADD' ? 30_000 : 10_000) + slackMs);
}

/** `timeoutMs` and `ageMs` differ from run to run: they are checked for plausible values here and removed. */
function readRequest(raw: Buffer): WireRequest {
  const [head = '', body = ''] = raw.toString().split('\r\n\r\n');
  const [method = '', target = ''] = head.split(' ');
  const [path = '', query] = target.split('?timeoutMs=');
  const headers = head.split('\r\n').slice(1);
  expect(headers).toEqual(expect.arrayContaining(['connection: close', 'x-ipledger-client: 1']));
  if (body === '') {
    expect(Number(query)).toBeGreaterThan(0);
    expect(Number(query)).toBeLessThanOrEqual(9_000);
    return { method, path, body: null };
  }
  expect(headers).toContain(`content-length: ${Buffer.byteLength(body)}`);
  const { timeoutMs, ageMs, ...args } = JSON.parse(body);
  expect(ageMs).toBeGreaterThanOrEqual(0);
  expect(ageMs).toBeLessThanOrEqual(30_000);
  expect(timeoutMs).toBeGreaterThan(0);
  expect(timeoutMs).toBeLessThanOrEqual(path === '/v1/ipam/ip' && method === 'POST' ? 29_000 : 9_000);
  return { method, path, body: args };
}

function withMatchers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('$matches' in value) return expect.stringMatching(new RegExp(String(value.$matches)));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, Array.isArray(item) ? item : withMatchers(item)]),
  );
}
