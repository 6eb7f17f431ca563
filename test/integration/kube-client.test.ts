import { beforeAll, describe, expect, test } from 'vitest';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { callApi } from '#test/support/api-request.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { accessAt, CONFIG_MAPS, clientOf, installThings, portOf, THINGS, thing } from './kube-things.ts';

const server = useSharedServer();
let client: KubeClient;

beforeAll(async () => {
  client = clientOf(server);
  await installThings(client);
  return () => client[Symbol.dispose]();
}, 60_000);

async function make(name: string, spec: Readonly<Record<string, unknown>> = {}) {
  const created = await client.create(THINGS, thing(name, spec));
  if (!created.ok) throw new Error(created.message);
  return created.object;
}

describe('existing and missing objects', () => {
  test('an object is found by its name', async () => {
    await make('found', { size: 3 });
    expect(await client.get(THINGS, { name: 'found' })).toMatchObject({ ok: true, object: { spec: { size: 3 } } });
  });

  test.each([
    { name: 'a missing object', resource: THINGS, at: { name: 'nobody' }, because: 'NotFound' },
    {
      name: 'a missing object of a core kind',
      resource: CONFIG_MAPS,
      at: { namespace: 'default', name: 'x' },
      because: 'NotFound',
    },
    { name: 'a missing namespace', resource: CONFIG_MAPS, at: { namespace: 'void', name: 'x' }, because: 'NotFound' },
    {
      name: 'a missing kind of a group',
      resource: { ...THINGS, plural: 'others' },
      at: { name: 'x' },
      because: 'NotServed',
    },
    { name: 'a missing version', resource: { ...THINGS, version: 'v9' }, at: { name: 'x' }, because: 'NotServed' },
    { name: 'a missing group', resource: { ...THINGS, group: 'void.test' }, at: { name: 'x' }, because: 'NotServed' },
    {
      name: 'a missing core kind',
      resource: { ...CONFIG_MAPS, plural: 'others' },
      at: { namespace: 'default', name: 'x' },
      because: 'NotServed',
    },
  ])('$name is $because', async ({ resource, at, because }) => {
    expect(await client.get(resource, at)).toMatchObject({ ok: false, because });
    const seen = { ...at, uid: 'u', resourceVersion: '1' };
    expect(await client.delete(resource, seen)).toMatchObject({ ok: false, because });
  });

  test('a create in a missing namespace is not taken for a missing object', async () => {
    const created = await client.create(CONFIG_MAPS, { metadata: { namespace: 'void', name: 'x' } });
    expect(created).toMatchObject({
      because: 'NotServed',
      message: 'namespaces "void" not found',
      isNamespaceGone: true,
    });
  });
});

describe('conditional writes', () => {
  test('a second create of a name is distinguished from a conflict', async () => {
    await make('twice');
    expect(await client.create(THINGS, thing('twice'))).toMatchObject({ because: 'AlreadyExists' });
  });

  test('an update needs the version it was read at', async () => {
    const seen = await make('updated');
    const changed = await client.update(THINGS, { ...seen, spec: { size: 2 } });
    expect(changed).toMatchObject({ ok: true, object: { spec: { size: 2 } } });
    expect(await client.update(THINGS, { ...seen, spec: { size: 3 } })).toMatchObject({ because: 'Conflict' });
    expect(await client.update(THINGS, { ...seen, metadata: { ...seen.metadata, resourceVersion: '' } })).toMatchObject(
      {
        because: 'Invalid',
      },
    );
  });

  test('a delete applies only to the version that was seen', async () => {
    const seen = await make('deleted');
    const { name, uid, resourceVersion } = seen.metadata;
    await client.update(THINGS, { ...seen, spec: { size: 2 } });
    expect(await client.delete(THINGS, { name, uid, resourceVersion })).toMatchObject({ because: 'Conflict' });
    expect(await client.delete(THINGS, { name, uid: 'another' })).toMatchObject({ because: 'Conflict' });
    expect(await client.delete(THINGS, { name, uid })).toEqual({ ok: true, object: null });
    expect(await client.delete(THINGS, { name, uid })).toMatchObject({ because: 'NotFound' });
    await make('deleted');
    expect(await client.delete(THINGS, { name, uid, resourceVersion })).toMatchObject({ because: 'Conflict' });
  });

  test('the status is written apart from the rest', async () => {
    const seen = await make('with-status');
    await client.update(THINGS, { ...seen, spec: {}, status: { ready: true } }, { subresource: 'status' });
    const patched = await client.patch(
      THINGS,
      { name: 'with-status' },
      { status: { count: 1 } },
      { subresource: 'status' },
    );
    expect(patched).toMatchObject({
      ok: true,
      object: { spec: { address: 'with-status' }, status: { ready: true, count: 1 } },
    });
  });

  test('a finalizer makes a delete a mark', async () => {
    const created = await client.create(THINGS, {
      ...thing('kept'),
      metadata: { name: 'kept', finalizers: ['kube.test/x'] },
    });
    if (!created.ok) throw new Error(created.message);
    expect(await client.delete(THINGS, created.object.metadata)).toMatchObject({ ok: true });
    const found = await client.get(THINGS, { name: 'kept' });
    expect(found).toMatchObject({ object: { metadata: { deletionTimestamp: expect.any(String) } } });
    await client.patch(THINGS, { name: 'kept' }, { metadata: { finalizers: [] } });
    expect(await client.get(THINGS, { name: 'kept' })).toMatchObject({ because: 'NotFound' });
  });
});

describe('lists', () => {
  const names = Array.from({ length: 25 }, (_, index) => `listed-${String(index).padStart(2, '0')}`);

  beforeAll(async () => {
    for (const name of names) {
      await client.create(THINGS, { ...thing(name), metadata: { name, labels: { set: 'listed' } } });
    }
  });

  const query = { labelSelector: 'set=listed' };

  test.each([{ pageSize: 0 }, { pageSize: 1 }, { pageSize: 10 }, { pageSize: 25 }, { pageSize: 500 }])(
    'the same in pages of $pageSize',
    async ({ pageSize }) => {
      const listed = await client.list(THINGS, query, { pageSize });
      expect(listed.ok && listed.object.items.map(({ metadata }) => metadata.name)).toEqual(names);
    },
  );

  test('of metadata only', async () => {
    const listed = await client.list(THINGS, query, { form: 'metadata' });
    if (!listed.ok) throw new Error(listed.message);
    expect(listed.object.items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(listed.object.items[0]).not.toHaveProperty('spec');
    const one = await client.get(THINGS, { name: names[0] ?? '' }, { form: 'metadata' });
    expect(one.ok && Object.keys(one.object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
  });

  test.each([{ pageSize: 0 }, { pageSize: 10 }])('as a table, in pages of $pageSize', async ({ pageSize }) => {
    const listed = await client.listTable(THINGS, query, { pageSize });
    expect(listed).toMatchObject({ ok: true, object: { columns: ['Name', 'ADDRESS', 'POOL', 'STATE', 'NODE'] } });
    expect(listed.ok && listed.object.rows).toEqual(names.map((name) => [name, name, 'pool-a', 'Allocated', 'node-1']));
  });

  test('of nothing', async () => {
    const nothing = { labelSelector: 'set=nothing' };
    expect(await client.list(THINGS, nothing)).toMatchObject({ ok: true, object: { items: [] } });
    expect(await client.list(THINGS, nothing, { form: 'metadata' })).toMatchObject({ ok: true, object: { items: [] } });
    expect(await client.list(CONFIG_MAPS, { namespace: 'void' })).toMatchObject({ ok: true, object: { items: [] } });
    expect(await client.listTable(THINGS, nothing)).toMatchObject({ ok: true, object: { rows: [] } });
  });

  test('by field', async () => {
    const listed = await client.list(THINGS, { fieldSelector: 'metadata.name=listed-07' });
    expect(listed.ok && listed.object.items.map(({ metadata }) => metadata.name)).toEqual(['listed-07']);
  });
});

test('a hundred requests at once share one connection', async () => {
  await using proxy = await startTcpProxy(portOf(server));
  using proxied = new KubeClient(() => accessAt(server, proxy.port), { userAgent: 'test' });
  const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
  const created = await Promise.all(names.map((name) => proxied.create(THINGS, thing(name))));
  expect(created.every(({ ok }) => ok)).toBe(true);
  expect(proxy.openConnections()).toBe(1);
});

test('the body of a DELETE that the tests send by themselves is heard', async () => {
  await make('heard');
  const path = `/apis/${THINGS.group}/${THINGS.version}/${THINGS.plural}/heard`;
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'of-another' } };
  const answer = await callApi(server, { method: 'DELETE', path, body, token: server.adminToken });
  expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
  expect(await client.get(THINGS, { name: 'heard' })).toMatchObject({ ok: true });
});
