import { describe, expect, test } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { startScripted, THINGS } from '#test/support/scripted-client.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';
import { createDefinite, deleteDefinite, updateDefinite } from './definite-write.ts';

const NAMED = { name: 'a', kind: 'things' };
const OURS = { metadata: { name: 'a', uid: 'u1', resourceVersion: '8' }, spec: { owner: 'us' } };
const THEIRS = { metadata: { name: 'a', uid: 'u2', resourceVersion: '9' }, spec: { owner: 'them' } };
const MARKED = {
  metadata: { ...OURS.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.org/stay'] },
};
const SEEN = { name: 'a', uid: 'u1', resourceVersion: '7' };
const isOurs = (found: KubeObject) => JSON.stringify(found['spec']) === JSON.stringify(OURS.spec);

const MOST_BYTES = 10_000;

type Reply = (request: ScriptedRequest) => void;
const replies = {
  silence: () => {},
  cut: ({ session }) => session?.destroy(),
  ours: ({ answer }) => answer(200, OURS),
  theirs: ({ answer }) => answer(200, THEIRS),
  marked: ({ answer }) => answer(200, MARKED),
  done: ({ answer }) => answer(200, { kind: 'Status', status: 'Success' }),
  exists: ({ answer }) => answer(409, statusBody(409, 'AlreadyExists', NAMED)),
  conflict: ({ answer }) => answer(409, statusBody(409, 'Conflict', NAMED)),
  missing: ({ answer }) => answer(404, statusBody(404, 'NotFound', NAMED)),
  unserved: ({ answer }) => answer(404, '404 page not found'),
  invalid: ({ answer }) => answer(422, statusBody(422, 'Invalid', NAMED)),
  forbidden: ({ answer }) => answer(403, statusBody(403, 'Forbidden', NAMED)),
  busy: ({ answer }) => answer(429, '', { 'retry-after': '30' }),
  fault: ({ answer }) => answer(500, statusBody(500, 'InternalError')),
  huge: ({ answer }) => answer(201, { ...OURS, status: 'x'.repeat(MOST_BYTES) }),
  junk: ({ answer }) => answer(200, '<html>'),
  refused: ({ stream }) => stream.close(7),
} satisfies Record<string, Reply>;
type Replies = readonly (keyof typeof replies)[];

const verbs = {
  create: (client, options) =>
    createDefinite(client, THINGS, { metadata: { name: 'a' }, spec: OURS.spec }, { ...options, isOurs }),
  update: (client, options) =>
    updateDefinite(
      client,
      THINGS,
      { metadata: { name: 'a', resourceVersion: '7' }, spec: OURS.spec },
      { ...options, isOurs },
    ),
  delete: (client, options) => deleteDefinite(client, THINGS, SEEN, options),
} satisfies Record<
  string,
  (client: KubeClient, options: { deadlineMs: number; attemptTimeoutMs: number }) => Promise<unknown>
>;

async function run(verb: keyof typeof verbs, script: Replies, lastsMs: number) {
  await using made = await startScripted(
    (request) => {
      const reply = script[Math.min(made.server.requests.length, script.length) - 1] ?? 'silence';
      replies[reply](request);
    },
    { maxAnswerBytes: MOST_BYTES },
  );
  const { client, server } = made;
  const outcome = await verbs[verb](client, { deadlineMs: client.timing.nowMs() + lastsMs, attemptTimeoutMs: 1_000 });
  return { outcome, sent: server.requests.map(({ method }) => method).join(' ') };
}

const PATIENT = 30_000;
const OK = { ok: true };
const no = (because: string, mayStillLand = false) => ({ ok: false, because, mayStillLand });

describe('create', () => {
  test.concurrent.each<{ name: string; script: Replies; sent: string; outcome: object }>([
    { name: 'answered', script: ['ours'], sent: 'POST', outcome: { ok: true, object: OURS, mayStillLand: false } },
    { name: 'taken at once: not looked at', script: ['exists'], sent: 'POST', outcome: no('AlreadyExists') },
    { name: 'refused at once', script: ['invalid'], sent: 'POST', outcome: no('Invalid') },
    { name: 'not served', script: ['unserved'], sent: 'POST', outcome: no('NotServed') },
    {
      name: 'lost, then done',
      script: ['silence', 'ours'],
      sent: 'POST POST',
      outcome: { ok: true, mayStillLand: true },
    },
    { name: 'cut, then done', script: ['cut', 'ours'], sent: 'POST POST', outcome: OK },
    { name: 'a fault, then done', script: ['fault', 'ours'], sent: 'POST POST', outcome: OK },
    { name: 'lost, then found to be ours', script: ['silence', 'exists', 'ours'], sent: 'POST POST GET', outcome: OK },
    { name: 'junk, then found to be ours', script: ['junk', 'exists', 'ours'], sent: 'POST POST GET', outcome: OK },
    {
      name: 'lost, then found to be theirs: the lost one may still come',
      script: ['silence', 'exists', 'theirs'],
      sent: 'POST POST GET',
      outcome: no('AlreadyExists', true),
    },
    {
      name: 'lost, taken, and gone when looked at: the 404 proves nothing, it is sent again',
      script: ['silence', 'exists', 'missing', 'ours'],
      sent: 'POST POST GET POST',
      outcome: OK,
    },
    {
      name: 'lost, taken, the look lost too',
      script: ['silence', 'exists', 'silence', 'exists', 'ours'],
      sent: 'POST POST GET POST GET',
      outcome: OK,
    },
    {
      name: 'lost, then forbidden for a while: a refusal settles nothing any more',
      script: ['silence', 'forbidden', 'forbidden', 'exists', 'ours'],
      sent: 'POST POST POST POST GET',
      outcome: OK,
    },
    {
      name: 'an answer that is too large: not sent again, and it may have been done',
      script: ['huge'],
      sent: 'POST',
      outcome: no('TooLarge', true),
    },
    {
      name: 'lost, then an answer that is too large',
      script: ['silence', 'huge'],
      sent: 'POST POST',
      outcome: no('TooLarge', true),
    },
    {
      name: 'forbidden for a moment, as by a server that has just started',
      script: ['forbidden', 'forbidden', 'ours'],
      sent: 'POST POST POST',
      outcome: { ok: true, mayStillLand: false },
    },
  ])('$name', async ({ script, sent, outcome }) => {
    const result = await run('create', script, PATIENT);
    expect(result).toMatchObject({ sent, outcome });
  });

  test.each<{ name: string; script: Replies; outcome: object }>([
    { name: 'silence to the end', script: ['silence'], outcome: no('Unknown', true) },
    { name: 'faults to the end', script: ['fault'], outcome: no('Unknown', true) },
    { name: 'lost, then forbidden to the end', script: ['silence', 'forbidden'], outcome: no('Unknown', true) },
    { name: 'refused streams to the end: certainly not done', script: ['refused'], outcome: no('Unreachable') },
    { name: 'forbidden to the end: certainly not done', script: ['forbidden'], outcome: no('Forbidden') },
    { name: 'busy to the end: certainly not done', script: ['busy'], outcome: no('TooManyRequests') },
  ])('at the deadline: $name', async ({ script, outcome }) => {
    const result = await run('create', script, 600);
    expect(result).toMatchObject({ outcome });
  });

  test('without time left nothing is sent', async () => {
    expect(await run('create', ['ours'], 0)).toMatchObject({ sent: '', outcome: no('OutOfTime') });
  });
});

describe('update', () => {
  test.concurrent.each<{ name: string; script: Replies; sent: string; outcome: object }>([
    { name: 'answered', script: ['ours'], sent: 'PUT', outcome: OK },
    { name: 'changed meanwhile', script: ['conflict'], sent: 'PUT', outcome: no('Conflict') },
    { name: 'gone', script: ['missing'], sent: 'PUT', outcome: no('NotFound') },
    { name: 'lost, then ours', script: ['silence', 'conflict', 'ours'], sent: 'PUT PUT GET', outcome: OK },
    {
      name: 'lost, then theirs',
      script: ['silence', 'conflict', 'theirs'],
      sent: 'PUT PUT GET',
      outcome: no('Conflict'),
    },
    { name: 'lost, then gone', script: ['silence', 'missing'], sent: 'PUT PUT', outcome: no('NotFound') },
    {
      name: 'lost, changed, then gone',
      script: ['silence', 'conflict', 'missing'],
      sent: 'PUT PUT GET',
      outcome: no('NotFound'),
    },
    {
      name: 'lost, then the kind is not served for a while',
      script: ['silence', 'unserved', 'ours'],
      sent: 'PUT PUT PUT',
      outcome: { ok: true, mayStillLand: false },
    },
  ])('$name', async ({ script, sent, outcome }) => {
    const result = await run('update', script, PATIENT);
    expect(result).toMatchObject({ sent, outcome });
  });
});

describe('delete', () => {
  test.concurrent.each<{ name: string; script: Replies; sent: string; outcome: object }>([
    { name: 'answered', script: ['done'], sent: 'DELETE', outcome: { ok: true, object: null } },
    { name: 'changed meanwhile', script: ['conflict'], sent: 'DELETE', outcome: no('Conflict') },
    { name: 'gone', script: ['missing'], sent: 'DELETE', outcome: no('NotFound') },
    { name: 'lost, then gone', script: ['silence', 'missing'], sent: 'DELETE DELETE', outcome: OK },
    {
      name: 'lost, then somebody else has the name',
      script: ['silence', 'conflict', 'theirs'],
      sent: 'DELETE DELETE GET',
      outcome: OK,
    },
    {
      name: 'lost, then only marked, as finalizers have it',
      script: ['silence', 'conflict', 'marked'],
      sent: 'DELETE DELETE GET',
      outcome: { ok: true, object: MARKED },
    },
    { name: 'only marked', script: ['marked'], sent: 'DELETE', outcome: { ok: true, object: MARKED } },
    {
      name: 'lost, then changed by somebody',
      script: ['silence', 'conflict', 'ours'],
      sent: 'DELETE DELETE GET',
      outcome: no('Conflict'),
    },
    {
      name: 'lost, then the kind is not served for a while',
      script: ['silence', 'unserved', 'missing'],
      sent: 'DELETE DELETE DELETE',
      outcome: OK,
    },
  ])('$name', async ({ script, sent, outcome }) => {
    const result = await run('delete', script, PATIENT);
    expect(result).toMatchObject({ sent, outcome });
  });
});

describe('forbidden for good', () => {
  test.each<{ name: string; forbiddenForMs?: number; fromMs: number; toMs: number; most: number }>([
    { name: 'after so long as was told', forbiddenForMs: 400, fromMs: 100, toMs: 400, most: 4 },
    { name: 'at once where nobody wants to wait', forbiddenForMs: 0, fromMs: 0, toMs: 100, most: 1 },
    { name: 'after three seconds', fromMs: 1_500, toMs: 3_100, most: 9 },
  ])('is told as such $name, and is no loop', async ({ fromMs, toMs, most, ...patience }) => {
    await using made = await startScripted(replies.forbidden);
    const { client, server } = made;
    const startedAtMs = client.timing.nowMs();
    const options = { deadlineMs: startedAtMs + 10_000, ...patience };
    expect(await deleteDefinite(client, THINGS, SEEN, options)).toMatchObject({
      ...no('Forbidden'),
      message: 'because of Forbidden',
    });
    const tookMs = client.timing.nowMs() - startedAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(fromMs);
    expect(tookMs).toBeLessThan(toMs);
    expect(server.requests.length).toBeLessThanOrEqual(most);
  });
});

test('a caller that gives up learns that it may have been done', async () => {
  const control = new AbortController();
  await using made = await startScripted(() => control.abort());
  const { client } = made;
  const options = { deadlineMs: client.timing.nowMs() + PATIENT, signal: control.signal, isOurs };
  const outcome = await createDefinite(client, THINGS, { metadata: { name: 'a' } }, options);
  expect(outcome).toMatchObject(no('Unknown', true));
});
