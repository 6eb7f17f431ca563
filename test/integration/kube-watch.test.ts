import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { KubeClient } from '#pkg/kube/client/client.ts';
import type { ListQuery } from '#pkg/kube/objects/kube-object.ts';
import type { ReflectorOptions } from '#pkg/kube/watch/reflector.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { startTcpProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';
import { change as changeBy, done, follow as followWith, PATIENCE_MS } from './kube-follow.ts';
import { accessAt, clientOf, installThings, portOf, THINGS, thing } from './kube-things.ts';

let server: ApiServer;
let admin: KubeClient;
let proxy: TcpProxy;
let client: KubeClient;

beforeAll(async () => {
  server = await startApiServer();
  admin = clientOf(server);
  await installThings(admin);
  return async () => {
    admin[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  };
});

beforeEach(async () => {
  const { items } = done(await admin.list(THINGS));
  await Promise.all(items.map(({ metadata }) => admin.delete(THINGS, metadata)));
  proxy = await startTcpProxy(portOf(server));
  client = new KubeClient(() => accessAt(server, proxy.port), { userAgent: 'test' });
  return async () => {
    client[Symbol.dispose]();
    await proxy[Symbol.asyncDispose]();
  };
});

const follow = (options: Partial<ReflectorOptions> = {}) => followWith(client, admin, options);
const change = (prefix: string) => changeBy(admin, prefix);

test('it follows changes', async () => {
  await change('before');
  await using followed = await follow();
  await change('after');
  await followed.becomesCurrent();
  expect(followed.troubles).toEqual([]);
  expect(followed.syncs()).toBe(1);
});

test.each<{ name: string; query: ListQuery }>([
  { name: 'labels', query: { labelSelector: 'mine=yes' } },
  { name: 'fields', query: { fieldSelector: 'metadata.name=mine' } },
])('of what $name select, metadata only: what no longer matches is deleted', async ({ query }) => {
  await using followed = await follow({ query, form: 'metadata' });
  await admin.create(THINGS, thing('other'));
  await admin.create(THINGS, { ...thing('mine'), metadata: { name: 'mine', labels: { mine: 'yes' } } });
  await followed.becomesCurrent();
  expect([...followed.known.keys()]).toEqual(['mine']);
  expect(followed.events.find(({ type }) => type === 'Added')).not.toHaveProperty('object.spec');
  if (query.labelSelector === undefined) return;
  await admin.patch(THINGS, { name: 'mine' }, { metadata: { labels: { mine: 'no' } } });
  await vi.waitFor(() => expect(followed.known.size).toBe(0), PATIENCE_MS);
});

describe('it catches up', () => {
  test('after the connection was cut, again and again, without a new list', async () => {
    await using followed = await follow();
    for (let round = 0; round < 5; round += 1) {
      proxy.cut();
      await change(`cut-${round}`);
      await followed.becomesCurrent();
    }
    expect(followed.syncs()).toBe(1);
    expect(followed.troubles.every(({ because }) => because === 'Unknown')).toBe(true);
  });

  test('after a 410: what it missed was forgotten by a restarted server', async () => {
    await change('early');
    await using followed = await follow();
    proxy.refuse();
    proxy.cut();
    await change('missed');
    const early = done(await admin.get(THINGS, { name: 'early-kept' }));
    done(await admin.delete(THINGS, early.metadata));
    await server.restart();
    await admin.list(THINGS);
    await proxy.accept();
    await followed.becomesCurrent();
    expect(followed.syncs()).toBe(2);
    expect(followed.troubles.map(({ because }) => because)).toContain('Expired');
  });

  test('after the server was restarted', async () => {
    await using followed = await follow();
    await server.restart();
    await change('restarted');
    await followed.becomesCurrent();
  });

  test('after a server that was paused until it was given up', async () => {
    using impatient = new KubeClient(() => accessAt(server, proxy.port), {
      userAgent: 'test',
      limits: { pingEveryMs: 500, pingTimeoutMs: 1_500, connectTimeoutMs: 1_500 },
    });
    const usual = client;
    client = impatient;
    await using followed = await follow();
    client = usual;
    server.pause();
    await vi.waitFor(() => expect(followed.troubles.length).toBeGreaterThan(0), PATIENCE_MS);
    server.resume();
    await change('paused');
    await followed.becomesCurrent();
  });
});

test('a watch that the server ends normally is opened again without a pause or a log line', async () => {
  await using followed = await follow({ watchSeconds: 1 });
  for (let round = 0; round < 4; round += 1) {
    await change(`ended-${round}`);
    await followed.becomesCurrent();
    await wait(1_000);
  }
  expect(followed.troubles).toEqual([]);
  expect(followed.syncs()).toBe(1);
});

test('hundreds of changes at once, over a connection that is cut all the time, end in the same view', async () => {
  await using followed = await follow();
  const names = Array.from({ length: 300 }, (_, index) => `many-${index}`);
  const patience = { timeoutMs: PATIENCE_MS };
  const cutting = setInterval(() => proxy.cut(), 400);
  await Promise.all(
    names.map(async (name, index) => {
      const { metadata } = done(await admin.create(THINGS, thing(name), patience));
      if (index % 3 === 0) done(await admin.delete(THINGS, metadata, patience));
      if (index % 3 === 1) done(await admin.patch(THINGS, { name }, { spec: { state: 'Retained' } }, patience));
    }),
  );
  clearInterval(cutting);
  await followed.becomesCurrent();
  expect(followed.known.size).toBe(200);
});
