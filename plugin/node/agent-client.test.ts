import { expect, test } from 'vitest';
import { type IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import { askAgent, isUnserved } from '#plugin/agent-client.ts';
import { type PluginCall, startCall } from '#plugin/call.ts';
import type { Exchange, PluginIo } from '#plugin/plugin-io.ts';
import { answerOf } from '#test/golden/transcript.ts';
import { decodeUtf8 } from './node-io.ts';

const QUESTION = { method: 'POST', path: '/v1/ipam/ip', args: { containerID: 'c' }, isWrite: true } as const;
const STATUS = { method: 'GET', path: '/v1/ipam/status', args: null, isWrite: false } as const;
const CHECK = { ...QUESTION, path: '/v1/ipam/check', isWrite: false } as const;
const ABSENT: Exchange = { kind: 'absent', why: 'missing' };
const OK: Exchange = { kind: 'answer', bytes: answerOf({ status: 200, body: { ips: [] } }) };
const STARTING: Exchange = {
  kind: 'answer',
  bytes: answerOf({ status: 503, body: { reason: 'agent-unavailable', message: 'reading records', details: '' } }),
};

interface Sent {
  readonly atMs: number;
  readonly timeoutMs: number;
  readonly body: { readonly timeoutMs: number };
}

/** A call on a clock that moves by what each exchange takes, and what it sent. */
function callOf(command: string, script: (turn: number, timeoutMs: number) => { takesMs: number; ended: Exchange }) {
  let nowMs = 1000;
  const sent: Sent[] = [];
  const asked: string[] = [];
  const io: Partial<PluginIo> = {
    env: (name) => (name === 'CNI_COMMAND' ? command : undefined),
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    encodeUtf8: (text) => new TextEncoder().encode(text),
    decodeUtf8,
    exchange: async (_path, request, _limit, timeoutMs) => {
      const [head = '', text = ''] = Buffer.from(request).toString().split('\r\n\r\n');
      asked.push(head);
      const body = text === '' ? null : JSON.parse(text);
      sent.push({ atMs: nowMs - 1000, timeoutMs, body });
      const { takesMs, ended } = script(sent.length - 1, timeoutMs);
      nowMs += takesMs;
      return ended;
    },
  };
  return { call: startCall(io as PluginIo) as PluginCall, sent, asked, elapsedMs: () => nowMs - 1000 };
}

test.each([
  { command: 'ADD', patienceMs: 10_000 },
  { command: 'CHECK', patienceMs: 10_000 },
  { command: 'GC', patienceMs: 10_000 },
  { command: 'DEL', patienceMs: 5_000 },
  { command: 'STATUS', patienceMs: 8_500 },
])('$command waits $patienceMs ms for an agent that is away', async ({ command, patienceMs }) => {
  const { call, sent, elapsedMs } = callOf(command, () => ({ takesMs: 0, ended: ABSENT }));
  await expect(askAgent(call, QUESTION)).rejects.toMatchObject({ reason: 'agent-unavailable' });
  expect(elapsedMs()).toBe(patienceMs - 100);
  expect(sent).toHaveLength(patienceMs / 100);
});

test.each(['missing', 'refused', 'busy'] as const)(
  'an agent that is away (%s) is asked again until it is there',
  async (why) => {
    const { call, sent } = callOf('ADD', (turn) => ({ takesMs: 1, ended: turn < 3 ? { kind: 'absent', why } : OK }));
    expect(await askAgent(call, QUESTION)).toBe('{"ips":[]}');
    expect(sent).toHaveLength(4);
  },
);

test('a starting agent is asked again, for as long as one that is away, and then has the last word', async () => {
  const { call, sent } = callOf('DEL', () => ({ takesMs: 0, ended: STARTING }));
  await expect(askAgent(call, QUESTION)).rejects.toMatchObject({
    reason: 'agent-unavailable',
    message: 'reading records',
  });
  expect(sent).toHaveLength(50);
});

const UNSERVED = ['agent-unavailable', 'api-server-unavailable', 'outcome-unknown', 'out-of-time', 'caller-gone'];
const answering = (reason: string): Exchange => ({
  kind: 'answer',
  bytes: answerOf({ status: 500, body: { reason, message: 'm', details: '' } }),
});

test.each(UNSERVED)('a request that the agent could not serve is sent again: %s', async (reason) => {
  const { call, sent } = callOf('ADD', (turn) => ({ takesMs: 0, ended: turn < 3 ? answering(reason) : OK }));
  expect(await askAgent(call, QUESTION)).toBe('{"ips":[]}');
  expect(sent).toHaveLength(4);
  const failing = callOf('DEL', () => ({ takesMs: 0, ended: answering(reason) }));
  const error = await askAgent(failing.call, QUESTION).catch(toIpamError);
  expect(error).toMatchObject({ reason });
  expect(isUnserved(error as IpamError)).toBe(true);
});

test.each(Object.keys(REASONS).filter((reason) => !UNSERVED.includes(reason)))(
  'a refusal is final: %s',
  async (reason) => {
    const { call, sent } = callOf('ADD', () => ({ takesMs: 0, ended: answering(reason) }));
    const error = await askAgent(call, QUESTION).catch(toIpamError);
    expect([(error as IpamError).reason, isUnserved(error as IpamError)]).toEqual([reason, false]);
    expect(sent).toHaveLength(1);
  },
);

const CUT_OFF = new TextEncoder().encode('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{');

test.each<{ ended: Exchange; reason: string }>([
  { ended: { kind: 'timeout' }, reason: 'outcome-unknown' },
  { ended: { kind: 'dropped' }, reason: 'outcome-unknown' },
  { ended: { kind: 'answer', bytes: CUT_OFF }, reason: 'outcome-unknown' },
  { ended: { kind: 'oversized' }, reason: 'agent-unavailable' },
  { ended: { kind: 'failed', why: 'EACCES' }, reason: 'agent-unavailable' },
  { ended: { kind: 'answer', bytes: new Uint8Array([1, 2, 3]) }, reason: 'agent-unavailable' },
])('a write that may have reached the agent is not sent again: $ended.kind, $reason', async ({ ended, reason }) => {
  const { call, sent } = callOf('ADD', () => ({ takesMs: 1, ended }));
  const error = await askAgent(call, QUESTION).catch(toIpamError);
  expect(error).toMatchObject({ reason });
  expect(isUnserved(error as IpamError)).toBe(true);
  expect(sent).toHaveLength(1);
});

test('a CHECK without an answer has changed nothing, and is asked again while there is time', async () => {
  const { call, sent } = callOf('CHECK', () => ({ takesMs: 4_000, ended: { kind: 'dropped' } }));
  await expect(askAgent(call, CHECK)).rejects.toMatchObject({ reason: 'agent-unavailable' });
  expect(sent).toHaveLength(3);
});

test('a STATUS whose agent was killed before it answered is asked again', async () => {
  const { call, asked } = callOf('STATUS', (turn) => ({ takesMs: 1, ended: turn < 1 ? { kind: 'dropped' } : OK }));
  expect(await askAgent(call, STATUS)).toBe('{"ips":[]}');
  expect(asked.map((line) => line.split(' ')[1])).toEqual([
    '/v1/ipam/status?timeoutMs=9000',
    '/v1/ipam/status?timeoutMs=8899',
  ]);
});

test('the agent hears how much time is left, less what rolling back takes', async () => {
  const { call, sent } = callOf('ADD', (turn) => ({ takesMs: 2000, ended: turn < 2 ? ABSENT : OK }));
  await askAgent(call, QUESTION);
  expect(sent.map(({ timeoutMs, body }) => [timeoutMs, body.timeoutMs])).toEqual([
    [30_000, 29_000],
    [27_900, 26_900],
    [25_800, 24_800],
  ]);
});

test('a DEL keeps time for its spool', async () => {
  const { call, sent, elapsedMs } = callOf('DEL', (_, timeoutMs) => ({
    takesMs: timeoutMs,
    ended: { kind: 'timeout' },
  }));
  await expect(askAgent(call, QUESTION)).rejects.toMatchObject({ message: 'the agent did not answer within 10 s' });
  expect([sent[0]?.timeoutMs, elapsedMs()]).toEqual([9500, 9500]);
});

test('no wait goes past the deadline', async () => {
  const { call, elapsedMs } = callOf('CHECK', (_, timeoutMs) => ({ takesMs: Math.min(700, timeoutMs), ended: ABSENT }));
  await expect(askAgent(call, QUESTION)).rejects.toMatchObject({ reason: 'agent-unavailable' });
  expect(elapsedMs()).toBeLessThanOrEqual(10_000);
});
