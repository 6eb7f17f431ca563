import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createServingCertificate } from '#test/support/certificates.ts';
import { KubeClient } from './client.ts';
import { accessFrom } from './kube-config.ts';

const NODES = { group: '', version: 'v1', plural: 'nodes', kind: 'Node' };

async function makeDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-kube-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

interface KubeconfigParts {
  readonly cluster: object;
  readonly user: object;
}

async function writeKubeconfig(file: string, { cluster, user }: KubeconfigParts): Promise<void> {
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(file, JSON.stringify(config));
}

afterEach(() => vi.unstubAllEnvs());

describe('a kubeconfig', () => {
  test.each([
    { name: 'a token', user: { token: 't1' }, headers: { authorization: 'Bearer t1' } },
    { name: 'a password', user: { username: 'me', password: 'pw' }, headers: { authorization: 'Basic bWU6cHc=' } },
    {
      name: 'an impersonated user',
      user: { token: 't', as: 'bob' },
      headers: { authorization: 'Bearer t', 'impersonate-user': 'bob' },
    },
  ])('with $name', async ({ user, headers }) => {
    await using directory = await makeDirectory();
    const file = join(directory.path, 'config');
    await writeKubeconfig(file, { cluster: { server: 'https://api:6443/prefix/' }, user });
    expect(await accessFrom({ from: 'kubeconfig', file })()).toMatchObject({
      origin: 'https://api:6443',
      pathPrefix: '/prefix',
      headers,
    });
  });

  test('a token file is read again at each load, its last newline is not sent', async () => {
    await using directory = await makeDirectory();
    const file = join(directory.path, 'config');
    const tokenFile = join(directory.path, 'token');
    await writeFile(tokenFile, 'one\n');
    await writeKubeconfig(file, { cluster: { server: 'https://api' }, user: { token: 'old', tokenFile: 'token' } });
    const load = accessFrom({ from: 'kubeconfig', file });
    expect((await load()).headers).toEqual({ authorization: 'Bearer one' });
    await writeFile(tokenFile, 'two\n');
    expect((await load()).headers).toEqual({ authorization: 'Bearer two' });
  });

  test('several files are merged as kubectl does it: the first word counts, and a missing file is passed over', async () => {
    await using directory = await makeDirectory();
    const [missing, first, second] = ['missing', 'one/first', 'second'].map((name) => join(directory.path, name));
    if (missing === undefined || first === undefined || second === undefined) throw new Error('three names');
    await mkdir(dirname(first));
    await writeFile(join(dirname(first), 'token'), 'from-a-file');
    await writeKubeconfig(first, { cluster: { server: 'https://first' }, user: { tokenFile: 'token' } });
    const other = {
      clusters: ['c', 'd'].map((name) => ({ name, cluster: { server: `https://second-${name}` } })),
      users: ['u', 'v'].map((name) => ({ name, user: { token: `of-${name}` } })),
      contexts: [{ name: 'y', context: { cluster: 'd', user: 'v' } }],
      'current-context': 'y',
    };
    await writeFile(second, JSON.stringify(other));
    const file = [missing, first, second];
    expect(await accessFrom({ from: 'kubeconfig', file })()).toMatchObject({
      origin: 'https://first',
      headers: { authorization: 'Bearer from-a-file' },
    });
    expect(await accessFrom({ from: 'kubeconfig', file, context: 'y' })()).toMatchObject({
      origin: 'https://second-d',
      headers: { authorization: 'Bearer of-v' },
    });
    await expect(accessFrom({ from: 'kubeconfig', file: [missing] })()).rejects.toThrow(`there is no file ${missing}`);
  });

  test.each([
    { name: 'no such file', cluster: null, message: 'cannot be read' },
    { name: 'no address', cluster: { server: 'nonsense' }, message: 'nonsense is not the address' },
    {
      name: 'a proxy',
      cluster: { server: 'https://api', 'proxy-url': 'http://p' },
      message: 'proxy-url is not supported',
    },
  ])('that cannot work is refused: $name', async ({ cluster, message }) => {
    await using directory = await makeDirectory();
    const file = join(directory.path, 'config');
    if (cluster !== null) await writeKubeconfig(file, { cluster, user: { token: 't' } });
    await expect(accessFrom({ from: 'kubeconfig', file })()).rejects.toMatchObject({
      reason: 'bad-config',
      message: expect.stringContaining(message),
    });
  });

  test('an unknown context is refused by name', async () => {
    await using directory = await makeDirectory();
    const file = join(directory.path, 'config');
    await writeKubeconfig(file, { cluster: { server: 'https://api' }, user: {} });
    await expect(accessFrom({ from: 'kubeconfig', file, context: 'other' })()).rejects.toThrow('context other');
  });
});

describe('a service account', () => {
  async function mount(root: string, files: Record<string, string | Buffer>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      const file = join(root, 'var/run/secrets/kubernetes.io/serviceaccount', name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
  }

  test('outside a cluster it says so', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined);
    vi.stubEnv('KUBERNETES_SERVICE_PORT', undefined);
    await expect(accessFrom({ from: 'cluster' })()).rejects.toMatchObject({ reason: 'bad-config' });
  });

  test('a token and a CA replaced on disk are used, without a restart', async () => {
    await using directory = await makeDirectory();
    const root = directory.path;
    const [first, second] = [join(root, '1'), join(root, '2')];
    await Promise.all([mkdir(first), mkdir(second)]);
    const certificates = [await createServingCertificate(first), await createServingCertificate(second)] as const;
    let [serving] = certificates;
    let token = 'one';
    const startServer = async (port: number) => {
      const [cert, key] = [await readFile(serving.certFile), await readFile(serving.keyFile)];
      const server = createSecureServer({ cert, key }, (request, response) => {
        response.statusCode = request.headers.authorization === `Bearer ${token}` ? 200 : 401;
        response.end(JSON.stringify({ metadata: { name: 'n1', uid: 'u', resourceVersion: '1' } }));
      });
      server.listen(port, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      return server;
    };
    const server = await startServer(0);
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1');
    vi.stubEnv('KUBERNETES_SERVICE_PORT', String(port));
    await mount(root, { token, 'ca.crt': await readFile(serving.caFile), namespace: 'default' });
    using client = new KubeClient(accessFrom({ from: 'cluster', root }), { userAgent: 'test' });
    expect(await client.get(NODES, { name: 'n1' })).toMatchObject({ ok: true });

    token = 'two';
    expect(await client.get(NODES, { name: 'n1' })).toMatchObject({ because: 'Unauthorized' });
    await mount(root, { token });
    expect(await client.get(NODES, { name: 'n1' })).toMatchObject({ ok: true });

    [, serving] = certificates;
    client[Symbol.dispose]();
    server.close();
    const renewed = await startServer(port);
    using next = new KubeClient(accessFrom({ from: 'cluster', root }), { userAgent: 'test' });
    expect(await next.get(NODES, { name: 'n1' })).toMatchObject({ because: 'Unreachable' });
    await mount(root, { 'ca.crt': await readFile(serving.caFile) });
    expect(await next.get(NODES, { name: 'n1' })).toMatchObject({ ok: true });
    next[Symbol.dispose]();
    renewed.close();
  });
});
