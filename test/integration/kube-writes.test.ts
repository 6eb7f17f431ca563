import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Access } from '#pkg/kube/transport/connection.ts';
import { createDefinite, deleteDefinite, updateDefinite } from '#pkg/kube/write/definite-write.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { accessAt, clientOf, installThings, portOf, THINGS, thing } from './kube-things.ts';
import { pauseForSure } from './ledger-pause.ts';

let server: ApiServer;
let admin: KubeClient;

beforeAll(async () => {
  server = await startApiServer();
  admin = clientOf(server);
  await installThings(admin);
  return async () => {
    admin[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  };
});

const ownedBy = (owner: string) => (found: KubeObject) => isMap(found['spec']) && found['spec']['owner'] === owner;
const patient = (client: KubeClient, ms = 20_000) => ({
  deadlineMs: client.timing.nowMs() + ms,
  attemptTimeoutMs: 700,
});

/** How many requests an API server answers at once on one connection (its SETTINGS_MAX_CONCURRENT_STREAMS). */
const STREAMS = 100;

async function make(name: string): Promise<KubeObject> {
  const created = await admin.create(THINGS, thing(name));
  if (!created.ok) throw new Error(created.message);
  return created.object;
}

async function namesOwnedBy(owner: string): Promise<string[]> {
  const listed = await admin.list(THINGS);
  if (!listed.ok) throw new Error(listed.message);
  return listed.object.items.filter(ownedBy(owner)).map(({ metadata }) => metadata.name);
}

describe('a paused API server', () => {
  test('whose create lands after the timeout and after a read said 404: still one object', async () => {
    await using second = await server.secondServer();
    await using proxy = await startTcpProxy(portOf(second));
    for (let round = 0; round < 4; round += 1) {
      const [name, owner] = [`late-${round}`, `owner-${round}`];
      using client = new KubeClient(() => accessAt(server, proxy.port), {
        userAgent: 'test',
        limits: { connectTimeoutMs: 300 },
      });
      await client.list(THINGS);
      await pauseForSure(second);
      const options = { ...patient(client), attemptTimeoutMs: 300, isOurs: ownedBy(owner) };
      const sent = proxy.nextRequest();
      const creating = createDefinite(client, THINGS, thing(name, { owner }), options);
      await sent;
      proxy.hold('requests'); // the server does not learn that the first try was given up
      await wait(1_000);
      expect(await admin.get(THINGS, { name })).toMatchObject({ because: 'NotFound' });
      second.resume();
      const late = await vi.waitUntil(async () => (await admin.get(THINGS, { name })).ok, 60_000);
      expect(late).toBe(true);
      proxy.release();
      const outcome = await creating;
      const found = await admin.get(THINGS, { name });
      expect(outcome.ok && found.ok && found.object.metadata.uid === outcome.object.metadata.uid).toBe(true);
      expect(await namesOwnedBy(owner)).toEqual([name]);
    }
  });

  test('one call rides it out over the other server, and its late tries change nothing', async () => {
    await using second = await server.secondServer();
    const ports = [portOf(second), portOf(server)];
    // A load balancer: each new connection goes to the next server.
    let connections = 0;
    const balanced = (): Promise<Access> => accessAt(server, ports[connections++ % ports.length] ?? 0);
    for (let round = 0; round < 4; round += 1) {
      connections = 0;
      using client = new KubeClient(balanced, { userAgent: 'test', limits: { connectTimeoutMs: 500 } });
      const [name, owner] = [`balanced-${round}`, `balanced-owner-${round}`];
      await client.list(THINGS);
      second.pause();
      const options = { ...patient(client), isOurs: ownedBy(owner) };
      const outcome = await createDefinite(client, THINGS, thing(name, { owner }), options);
      expect(outcome).toMatchObject({ ok: true, mayStillLand: true });
      second.resume();
      await wait(300);
      const found = await admin.get(THINGS, { name });
      expect(outcome.ok && found.ok && found.object.metadata.uid === outcome.object.metadata.uid).toBe(true);
      expect(await namesOwnedBy(owner)).toEqual([name]);
    }
  });

  test('that stays paused to the deadline: unknown, and told that it may still be done', async () => {
    using client = clientOf(server, { limits: { connectTimeoutMs: 500 } });
    await client.list(THINGS);
    server.pause();
    const options = { ...patient(client, 2_500), isOurs: ownedBy('x') };
    const outcome = await createDefinite(client, THINGS, thing('paused', { owner: 'x' }), options);
    server.resume();
    expect(outcome).toMatchObject({ ok: false, because: 'Unknown', mayStillLand: true });
    const again = await createDefinite(admin, THINGS, thing('paused', { owner: 'x' }), {
      ...patient(admin),
      isOurs: ownedBy('x'),
    });
    expect(again.ok || again.because === 'AlreadyExists').toBe(true);
    expect(await namesOwnedBy('x')).toEqual(['paused']);
  });

  test('with as many requests as it allows streams: a create beyond them is known not to be sent', async () => {
    using client = clientOf(server, { limits: { connectTimeoutMs: 500 } });
    await client.list(THINGS);
    server.pause();
    const first = Array.from({ length: STREAMS }, (_, at) =>
      client.create(THINGS, thing(`stream-${at}`, { owner: 'streams' }), { timeoutMs: 6_000 }),
    );
    const beyond = Array.from({ length: 20 }, (_, at) =>
      client.create(THINGS, thing(`beyond-${at}`, { owner: 'beyond' }), { timeoutMs: 1_500 }),
    );
    const outcomes = await Promise.all(beyond);
    server.resume();
    expect(outcomes.map((outcome) => !outcome.ok && outcome.because)).toEqual(outcomes.map(() => 'OutOfTime'));
    await Promise.all(first);
    expect(await namesOwnedBy('beyond')).toEqual([]);
  });
});

describe('an answer that is lost after the write was done', () => {
  async function behindProxy() {
    const proxy = await startTcpProxy(portOf(server));
    const client = new KubeClient(() => accessAt(server, proxy.port), {
      userAgent: 'test',
      limits: { connectTimeoutMs: 500 },
    });
    await client.list(THINGS);
    /** Does the write, loses its answer, and lets the next connection through. */
    const loseAnswer = async <T>(write: () => Promise<T>, isDone: () => Promise<boolean>): Promise<T> => {
      proxy.hold('answers');
      const writing = write();
      while (!(await isDone())) await wait(10);
      proxy.cut();
      proxy.release();
      return writing;
    };
    const stop = async () => {
      client[Symbol.dispose]();
      await proxy[Symbol.asyncDispose]();
    };
    return { client, loseAnswer, [Symbol.asyncDispose]: stop };
  }

  test('a create is found to be ours', async () => {
    await using made = await behindProxy();
    const { client } = made;
    const options = { ...patient(client), attemptTimeoutMs: 5_000, isOurs: ownedBy('me') };
    const outcome = await made.loseAnswer(
      () => createDefinite(client, THINGS, thing('lost-create', { owner: 'me' }), options),
      async () => (await admin.get(THINGS, { name: 'lost-create' })).ok,
    );
    expect(outcome).toMatchObject({ ok: true, object: { metadata: { name: 'lost-create' } } });
  });

  test('an update is found to be ours, and one that was overwritten is not', async () => {
    await using made = await behindProxy();
    const { client } = made;
    const isOwned = async (name: string, owner: string) => {
      const found = await admin.get(THINGS, { name });
      return found.ok && ownedBy(owner)(found.object);
    };
    for (const { name, isOverwritten } of [
      { name: 'lost-update', isOverwritten: false },
      { name: 'overwritten', isOverwritten: true },
    ]) {
      const seen = await make(name);
      const options = { ...patient(client), attemptTimeoutMs: 5_000, isOurs: ownedBy('me') };
      const outcome = await made.loseAnswer(
        () => updateDefinite(client, THINGS, { ...seen, spec: { owner: 'me' } }, options),
        async () => {
          if (!(await isOwned(name, 'me'))) return false;
          if (isOverwritten) await admin.patch(THINGS, { name }, { spec: { owner: 'them' } });
          return true;
        },
      );
      expect(outcome).toMatchObject(isOverwritten ? { because: 'Conflict', mayStillLand: false } : { ok: true });
    }
  });

  test('a delete is done, whether the name is free or taken anew', async () => {
    await using made = await behindProxy();
    const { client } = made;
    for (const { name, isTakenAnew } of [
      { name: 'lost-delete', isTakenAnew: false },
      { name: 'taken-anew', isTakenAnew: true },
    ]) {
      const { metadata } = await make(name);
      const outcome = await made.loseAnswer(
        () => deleteDefinite(client, THINGS, metadata, { ...patient(client), attemptTimeoutMs: 5_000 }),
        async () => {
          if ((await admin.get(THINGS, { name })).ok) return false;
          if (isTakenAnew) await make(name);
          return true;
        },
      );
      expect(outcome).toMatchObject({ ok: true, mayStillLand: false });
      expect((await admin.get(THINGS, { name })).ok).toBe(isTakenAnew);
    }
  });
});

test('answers that take 2 s are waited for', async () => {
  await using proxy = await startTcpProxy(portOf(server));
  using client = new KubeClient(() => accessAt(server, proxy.port), { userAgent: 'test' });
  await client.list(THINGS);
  proxy.delay(1_000); // in each direction
  const started = performance.now();
  expect(await client.create(THINGS, thing('slow'))).toMatchObject({ ok: true });
  expect(performance.now() - started).toBeGreaterThan(1_950);
  expect(await client.get(THINGS, { name: 'slow' }, { timeoutMs: 1_000 })).toMatchObject({ because: 'Unknown' });
});

test('a server that answers 500 is asked again until it does not', async () => {
  const webhooks = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
  };
  const webhook = {
    name: 'broken.kube.test',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ apiGroups: ['kube.test'], apiVersions: ['*'], operations: ['CREATE'], resources: ['things'] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const made = await admin.create(webhooks, { metadata: { name: 'broken' }, webhooks: [webhook] });
  if (!made.ok) throw new Error(made.message);
  let probes = 0;
  while ((await admin.create(THINGS, thing(`probe-${probes++}`))).ok) await wait(100);
  expect(await admin.create(THINGS, thing('faulty'))).toMatchObject({ because: 'ServerError' });
  const options = { ...patient(admin), isOurs: ownedBy('me') };
  const creating = createDefinite(admin, THINGS, thing('faulty', { owner: 'me' }), options);
  await wait(500);
  await admin.delete(webhooks, made.object.metadata);
  expect(await creating).toMatchObject({ ok: true });
});
