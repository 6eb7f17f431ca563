import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findApiBinaries } from '#test/support/api-binaries.ts';
import { isListening } from '#test/support/api-ports.ts';
import { type ApiAnswer, type ApiCall, callApi } from '#test/support/api-request.ts';
import { RUNS_ROOT, removeLeftovers } from '#test/support/api-run-dir.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';

let server: ApiServer;

beforeAll(async () => {
  server = await startApiServer();
  return () => server[Symbol.asyncDispose]();
});

const asAdmin = (call: ApiCall, target: { url: string } = server): Promise<ApiAnswer> =>
  callApi({ url: target.url, caFile: server.caFile }, { token: server.adminToken, ...call });

const create = (path: string, body: unknown, target?: { url: string }): Promise<ApiAnswer> =>
  asAdmin({ method: 'POST', path, body }, target);

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const createConfigMap = (name: string, target?: { url: string }): Promise<ApiAnswer> =>
  create(CONFIG_MAPS, { metadata: { name } }, target);

describe('access', () => {
  test.each([
    { name: 'the admin', token: () => server.adminToken, status: 200 },
    { name: 'nobody', token: () => undefined, status: 403 },
    { name: 'a stranger', token: () => 'guess', status: 401 },
  ])('$name listing namespaces gets $status', async ({ token, status }) => {
    const sent = token();
    const answer = await callApi(server, {
      path: '/api/v1/namespaces',
      ...(sent === undefined ? {} : { token: sent }),
    });
    expect(answer.status).toBe(status);
  });

  test('it is ready, and the admin creates a namespace', async () => {
    expect(await asAdmin({ path: '/readyz' })).toMatchObject({ status: 200, body: 'ok' });
    expect(await create('/api/v1/namespaces', { metadata: { name: 'made' } })).toMatchObject({ status: 201 });
    expect(await asAdmin({ path: '/api/v1/namespaces/made' })).toMatchObject({ body: { metadata: { name: 'made' } } });
  });

  test('kubectl works with the kubeconfig', async () => {
    const { kubectl } = await findApiBinaries();
    const flags = [`--kubeconfig=${server.kubeconfigFile}`, `--cache-dir=${server.dir}/kubectl`];
    const { stdout } = await promisify(execFile)(kubectl, [...flags, 'get', 'namespace', 'default', '--output=name']);
    expect(stdout.trim()).toBe('namespace/default');
  });

  test('a token bound to a pod carries its node, and RBAC allows its holder nothing', async () => {
    await create('/api/v1/nodes', { metadata: { name: 'n1' } });
    await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'agent' } });
    const spec = { serviceAccountName: 'agent', nodeName: 'n1', containers: [{ name: 'agent', image: 'agent' }] };
    const pod = await create('/api/v1/namespaces/default/pods', { metadata: { name: 'agent-1' }, spec });
    expect(pod.status).toBe(201);

    const { uid } = (pod.body as { metadata: { uid: string } }).metadata;
    const issued = await create('/api/v1/namespaces/default/serviceaccounts/agent/token', {
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'agent-1', uid } },
    });
    const { token } = (issued.body as { status: { token: string } }).status;

    const review = await callApi(server, {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: {},
      token,
    });
    expect(review.body).toMatchObject({
      status: {
        userInfo: {
          username: 'system:serviceaccount:default:agent',
          extra: {
            'authentication.kubernetes.io/node-name': ['n1'],
            'authentication.kubernetes.io/pod-name': ['agent-1'],
          },
        },
      },
    });
    expect(await callApi(server, { path: CONFIG_MAPS, token })).toMatchObject({ status: 403 });
  });
});

test('only the process that listens on the port counts as its server', async () => {
  const port = Number(new URL(server.url).port);
  expect(await isListening(server.pid(), port)).toBe(true);
  expect(await isListening(process.pid, port)).toBe(false);
});

test('requests are counted by their labels', async () => {
  const labels = { verb: 'POST', resource: 'configmaps', code: '201' };
  const before = await server.requestCount(labels);
  for (const name of ['counted-1', 'counted-2', 'counted-3']) await createConfigMap(name);
  await createConfigMap('counted-3');
  expect((await server.requestCount(labels)) - before).toBe(3);
  expect(await server.requestCount({ ...labels, code: '409' })).toBe(1);
});

describe('failures', () => {
  test('a paused server answers nothing, and answers waiting requests after it is resumed', async () => {
    server.pause();
    const waiting = asAdmin({ path: '/readyz' });
    await expect(asAdmin({ path: '/readyz', timeoutMs: 500 })).rejects.toThrow('aborted');
    server.resume();
    expect(await waiting).toMatchObject({ status: 200 });
  });

  test('a killed server refuses connections, and has the same address and data after a restart', async () => {
    await createConfigMap('kept');
    const [url, pid] = [server.url, server.pid()];
    await server.kill();
    await expect(asAdmin({ path: '/readyz' })).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(server.pid()).not.toBe(pid);
    expect(await asAdmin({ path: `${CONFIG_MAPS}/kept` }, { url })).toMatchObject({ status: 200 });
  });

  test('a second server sees the writes of the first, and outlives it', async () => {
    await using second = await server.secondServer();
    expect(second.url).not.toBe(server.url);
    await createConfigMap('shared');
    expect(await asAdmin({ path: `${CONFIG_MAPS}/shared` }, second)).toMatchObject({ status: 200 });
    await server.kill();
    expect(await createConfigMap('without-the-first', second)).toMatchObject({ status: 201 });
    await server.restart();
    expect(await asAdmin({ path: `${CONFIG_MAPS}/without-the-first` })).toMatchObject({ status: 200 });
  });
});

describe('a proxy in front of it', () => {
  const startProxy = async () => {
    const proxy = await startTcpProxy(Number(new URL(server.url).port));
    return Object.assign(proxy, { url: `https://127.0.0.1:${proxy.port}` });
  };

  test('delays every byte', async () => {
    await using proxy = await startProxy();
    proxy.delay(200);
    const started = performance.now();
    expect(await asAdmin({ path: '/readyz' }, proxy)).toMatchObject({ status: 200 });
    // Two round trips, TLS and the request, pass it four times.
    expect(performance.now() - started).toBeGreaterThan(780);
  });

  test('holds bytes and hands them on', async () => {
    await using proxy = await startProxy();
    proxy.hold();
    const waiting = asAdmin({ path: '/readyz' }, proxy);
    await expect(asAdmin({ path: '/readyz', timeoutMs: 500 }, proxy)).rejects.toThrow('aborted');
    proxy.release();
    expect(await waiting).toMatchObject({ status: 200 });
  });

  test('loses the answer of a write that was done', async () => {
    await using proxy = await startProxy();
    const agent = new Agent({ keepAlive: true });
    await asAdmin({ path: '/readyz', agent }, proxy);
    proxy.hold('answers');
    const call = { method: 'POST', path: CONFIG_MAPS, body: { metadata: { name: 'done-unknown' } }, agent };
    const writing = asAdmin(call, proxy).catch((error: Error) => error.message);
    await vi.waitFor(async () => {
      expect(await asAdmin({ path: `${CONFIG_MAPS}/done-unknown` })).toMatchObject({ status: 200 });
    }, 5_000);
    proxy.cut();
    expect(await writing).toMatch(/ECONNRESET|socket hang up/);
    expect(proxy.openConnections()).toBe(0);
  });

  test('refuses, and accepts again on the same port', async () => {
    await using proxy = await startProxy();
    proxy.refuse();
    await expect(asAdmin({ path: '/readyz' }, proxy)).rejects.toThrow('ECONNREFUSED');
    await proxy.accept();
    expect(await asAdmin({ path: '/readyz' }, proxy)).toMatchObject({ status: 200 });
  });
});

describe('what a run leaves behind', () => {
  test('servers and files of a dead owner are removed; an unrelated process and a living run stay', async () => {
    const dead = join(RUNS_ROOT, '1-0-dead');
    await mkdir(dead, { recursive: true });
    const { etcd } = await findApiBinaries();
    const urls = ['--listen-client-urls=http://127.0.0.1:0', '--advertise-client-urls=http://127.0.0.1:0'];
    const leftover = spawn(etcd, [`--data-dir=${dead}/etcd`, '--listen-peer-urls=http://127.0.0.1:0', ...urls]);
    const stranger = spawn(process.execPath, [
      '--eval',
      'setInterval(() => {}, 1_000)',
      '--',
      `--data-dir=${dead}/etcd`,
    ]);
    onTestFinished(() => {
      for (const child of [leftover, stranger]) child.kill('SIGKILL');
    });
    await vi.waitFor(() => access(join(dead, 'etcd/member')), 20_000);
    const ends = [once(leftover, 'exit'), once(stranger, 'exit')];

    await removeLeftovers();
    await expect(access(dead)).rejects.toThrow('ENOENT');
    stranger.kill('SIGTERM');
    expect(await Promise.all(ends)).toEqual([
      [null, 'SIGKILL'],
      [null, 'SIGTERM'],
    ]);
    expect(await asAdmin({ path: '/readyz' })).toMatchObject({ status: 200 });
    await access(server.dir);
  });

  test('when its owner is killed the servers die at once, and the next run removes the directory', async () => {
    const script = `
      const { startApiServer } = await import('${new URL('../support/api-server.ts', import.meta.url)}');
      const server = await startApiServer();
      console.log(JSON.stringify({ pid: server.pid(), dir: server.dir }));
      setInterval(() => {}, 1_000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void owner.kill('SIGKILL'));
    const [line] = await once(owner.stdout, 'data');
    const { pid, dir } = JSON.parse(String(line)) as { pid: number; dir: string };

    await access(dir); // any run that starts may remove it after its owner died
    owner.kill('SIGKILL');
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000);
    await removeLeftovers();
    await expect(access(dir)).rejects.toThrow('ENOENT');
  });

  test('disposing ends the servers and removes the directory', async () => {
    const short = await startApiServer({ fsync: true });
    await short[Symbol.asyncDispose]();
    await expect(access(short.dir)).rejects.toThrow('ENOENT');
    expect(() => process.kill(short.pid(), 0)).toThrow('ESRCH');
  });
});

test('without binaries it fails and names the command that provides them', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('KUBEBUILDER_ASSETS', '');
  vi.stubEnv('PATH', '/usr/bin:/bin');
  vi.stubEnv('XDG_CACHE_HOME', join(server.dir, 'empty'));
  await expect(startApiServer()).rejects.toThrow('hack/kube-assets');
});
