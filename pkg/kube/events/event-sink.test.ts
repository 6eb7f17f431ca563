import { expect, test, vi } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';
import { cutNote } from './event-object.ts';
import { EventSink } from './event-sink.ts';
import type { EmittedEvent } from './events.ts';

const POD = { apiVersion: 'v1', kind: 'Pod', namespace: 'prod', name: 'web-0', uid: 'uid-1' };
const FULL: EmittedEvent = { regarding: POD, type: 'Warning', reason: 'IPPoolExhausted', note: 'v4 is full' };
const WAIT = { timeout: 30_000, interval: 10 };

interface Written {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly note: string;
  readonly reason: string;
}

function accept(request: ScriptedRequest): void {
  const object = JSON.parse(request.body) as Written;
  request.answer(201, { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1' } });
}

function written({ requests }: { requests: ScriptedRequest[] }): Written[] {
  return requests.map(({ body }) => JSON.parse(body) as Written);
}

test('an event is written in the namespace of what it is about, with who reports it', async () => {
  await using scripted = await startScripted(accept);
  await using sink = new EventSink(scripted.client, { reporter: 'agent', instance: 'agent-x', now: () => new Date(0) });
  sink.emit(FULL);
  await vi.waitUntil(() => scripted.server.requests.length === 1, WAIT);
  expect(scripted.server.requests[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/prod/events');
  expect(written(scripted.server)[0]).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: expect.stringMatching(/^web-0\.[0-9a-f]{16}$/) as string, namespace: 'prod' },
    eventTime: '1970-01-01T00:00:00.000000Z',
    reportingController: 'ipledger.io/agent',
    reportingInstance: 'agent-x',
    action: 'Allocate',
    reason: 'IPPoolExhausted',
    regarding: POD,
    note: 'v4 is full',
    type: 'Warning',
  });
});

test('the same words are told once in five minutes, other words at once', async () => {
  let nowMs = 0;
  await using scripted = await startScripted(accept);
  await using sink = new EventSink(scripted.client, { reporter: 'agent', instance: 'a', now: () => new Date(nowMs) });
  sink.emit(FULL);
  sink.emit(FULL);
  nowMs = 299_999;
  sink.emit(FULL);
  sink.emit({ ...FULL, note: 'other words' });
  nowMs = 300_000;
  sink.emit(FULL);
  await vi.waitUntil(() => scripted.server.requests.length >= 3, WAIT);
  expect(written(scripted.server).map(({ note }) => note)).toEqual(['v4 is full', 'other words', 'v4 is full']);
});

test('what is the same but for a number is told once', async () => {
  await using scripted = await startScripted(accept);
  await using sink = new EventSink(scripted.client, { reporter: 'controller', instance: 'c', now: () => new Date(0) });
  for (const left of [3, 2, 1]) sink.emit({ ...FULL, note: `left ${left} of 9`, sameAs: 'of 9' });
  sink.emit({ ...FULL, note: 'left 1 of 5', sameAs: 'of 5' });
  await vi.waitUntil(() => scripted.server.requests.length >= 2, WAIT);
  expect(written(scripted.server).map(({ note }) => note)).toEqual(['left 3 of 9', 'left 1 of 5']);
});

test('a refusal is reported once, loses the event, and lets it be told again', async () => {
  const troubles: (string | null)[] = [];
  let isAllowed = false;
  await using scripted = await startScripted((request) =>
    isAllowed ? accept(request) : request.answer(403, statusBody(403, 'Forbidden')),
  );
  await using sink = new EventSink(scripted.client, {
    reporter: 'agent',
    instance: 'a',
    onTrouble: (because) => troubles.push(because),
  });
  sink.emit(FULL);
  sink.emit({ ...FULL, note: 'more' });
  await vi.waitUntil(() => sink.lost === 2, WAIT);
  expect(troubles).toEqual(['Forbidden']);
  isAllowed = true;
  sink.emit(FULL);
  await vi.waitUntil(() => troubles.length === 2, WAIT);
  expect(troubles).toEqual(['Forbidden', null]);
});

test('while the API server does not answer, the oldest are dropped and nobody waits', async () => {
  await using scripted = await startScripted(() => {});
  const sink = new EventSink(scripted.client, { reporter: 'agent', instance: 'a' });
  sink.emit({ ...FULL, note: 'first' });
  await vi.waitUntil(() => scripted.server.requests.length === 1, WAIT);
  for (let count = 0; count < 300; count += 1) sink.emit({ ...FULL, note: `note ${count}` });
  expect(sink.lost).toBe(300 - 256);
  await sink[Symbol.asyncDispose]();
  sink.emit({ ...FULL, note: 'after the end' });
  expect(scripted.server.requests).toHaveLength(1);
});

test('a note is cut to 1024 bytes between two characters', () => {
  expect(cutNote('short')).toBe('short');
  for (const character of ['x', 'ü', '🙂']) {
    const cut = cutNote(character.repeat(2_000));
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(1016);
    expect(cut.replaceAll(character, '')).toBe('…');
  }
});
