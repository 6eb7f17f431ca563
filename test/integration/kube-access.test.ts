import { createPrivateKey, sign } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import type { Access } from '#pkg/kube/transport/connection.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { createDefinite } from '#pkg/kube/write/definite-write.ts';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { accessAt, clientOf, installThings, portOf, THINGS, thing } from './kube-things.ts';

const PATIENCE_MS = 60_000;

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

const SERVICE_ACCOUNTS = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount' };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const ROLES = { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole' };
const BINDINGS = { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' };

/** A service account with all rights on things, and a function that removes them. */
async function createReader(name: string, target: ApiServer = server) {
  const master = target === server ? admin : clientOf(target);
  const account = await master.create(SERVICE_ACCOUNTS, { metadata: { namespace: 'default', name } });
  if (!account.ok) throw new Error(account.message);
  await master.create(ROLES, {
    metadata: { name },
    rules: [{ apiGroups: [THINGS.group], resources: [THINGS.plural], verbs: ['*'] }],
  });
  const grant = async () => {
    const bound = await master.create(BINDINGS, {
      metadata: { name },
      roleRef: { apiGroup: RBAC.group, kind: ROLES.kind, name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
    });
    if (!bound.ok) throw new Error(bound.message);
    return () => master.delete(BINDINGS, bound.object.metadata);
  };
  const issue = async () => {
    const answer = await callApi(target, {
      method: 'POST',
      path: `/api/v1/namespaces/default/serviceaccounts/${name}/token`,
      token: target.adminToken,
      body: { spec: {} },
    });
    return (answer.body as { status: { token: string } }).status.token;
  };
  return { name, uid: account.object.metadata.uid, grant, issue };
}

/** The API server issues no token below ten minutes and accepts each a minute longer; a token signed with its key can be shorter. */
async function signToken(account: { name: string; uid: string }, livesForSeconds: number): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const issuer = 'https://kubernetes.default.svc';
  const claims = {
    iss: issuer,
    aud: [issuer],
    sub: `system:serviceaccount:default:${account.name}`,
    iat: now - 120,
    nbf: now - 120,
    exp: now - 60 + livesForSeconds,
    'kubernetes.io': { namespace: 'default', serviceaccount: { name: account.name, uid: account.uid } },
  };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(claims)}`;
  const key = createPrivateKey(await readFile(join(server.dir, 'service-account.key')));
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

async function writeKubeconfig(tokenFile: string): Promise<string> {
  const file = join(server.dir, `kubeconfig-of-${tokenFile}`);
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': server.caFile } }],
    users: [{ name: 'u', user: { tokenFile } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

/** Concurrent, because each test has its own account and things, and mostly waits. */
describe.concurrent('access', () => {
  test('an expired token that is replaced on disk: the next request uses the new one', async () => {
    const reader = await createReader('rotated');
    await reader.grant();
    const tokenFile = join(server.dir, 'rotated-token');
    await writeFile(tokenFile, await signToken(reader, 3));
    const file = await writeKubeconfig('rotated-token');
    using client = new KubeClient(accessFrom({ from: 'kubeconfig', file }), { userAgent: 'test' });
    await vi.waitFor(async () => expect(await client.list(THINGS)).toMatchObject({ ok: true }), PATIENCE_MS);

    // The API server remembers a token that was good for about 10 s.
    await vi.waitFor(async () => expect(await client.list(THINGS)).toMatchObject({ because: 'Unauthorized' }), {
      timeout: PATIENCE_MS,
      interval: 1_000,
    });
    await writeFile(tokenFile, await reader.issue());
    expect(await client.list(THINGS)).toMatchObject({ ok: true });
    expect(await client.create(THINGS, thing('by-new-token'))).toMatchObject({ ok: true });
  });

  test('rights that are taken away: a clear error, pauses that grow, and what was missed once they are back', async () => {
    const reader = await createReader('forgotten');
    let takeAway = await reader.grant();
    const token = await reader.issue();
    await using proxy = await startTcpProxy(portOf(server));
    const access = async (): Promise<Access> => ({
      ...(await accessAt(server, proxy.port)),
      headers: { authorization: `Bearer ${token}` },
    });
    using client = new KubeClient(access, { userAgent: 'test' });
    await vi.waitFor(async () => expect(await client.list(THINGS)).toMatchObject({ ok: true }), PATIENCE_MS);

    const troubles: Failure[] = [];
    const names = new Set<string>();
    await using reflector = new Reflector(client, {
      resource: THINGS,
      onEvent: (event) => {
        if (event.type === 'Added') names.add(event.object.metadata.name);
        if (event.type === 'Deleted') names.delete(event.identity.name);
      },
      onTrouble: (trouble) => {
        if (trouble.during === 'event') throw trouble.thrown;
        troubles.push(trouble.failure);
      },
    });
    await reflector.synced;
    await admin.create(THINGS, thing('before'));
    await vi.waitFor(() => expect(names).toContain('before'), PATIENCE_MS);

    await takeAway();
    await vi.waitFor(
      async () => expect(await client.list(THINGS)).toMatchObject({ because: 'Forbidden' }),
      PATIENCE_MS,
    );
    proxy.cut();
    await admin.create(THINGS, thing('meanwhile'));
    await wait(6_000);
    const refused = troubles.filter(({ because }) => because === 'Forbidden');
    expect(refused.length).toBeGreaterThan(1);
    expect(refused.length).toBeLessThan(10);
    // After a break the revision is compared first, with a list of one object.
    expect(refused[0]?.message).toMatch(/things.kube.test is forbidden: User .*forgotten.* cannot list/);
    expect(names).toContain('before');
    expect(names).not.toContain('meanwhile');

    const options = { deadlineMs: client.timing.nowMs() + 10_000, isOurs: () => false };
    expect(await createDefinite(client, THINGS, thing('refused'), options)).toMatchObject({
      because: 'Forbidden',
      mayStillLand: false,
    });

    takeAway = await reader.grant();
    await vi.waitFor(() => expect(names).toContain('meanwhile'), PATIENCE_MS);
  });

  test('rights that come a moment late: a definite write waits for them', async () => {
    const late = await createReader('late');
    const token = await late.issue();
    const access = async () => ({
      ...(await accessAt(server, portOf(server))),
      headers: { authorization: `Bearer ${token}` },
    });
    using client = new KubeClient(access, { userAgent: 'test' });
    const options = { deadlineMs: client.timing.nowMs() + 10_000, isOurs: () => false };
    const creating = createDefinite(client, THINGS, thing('late'), options);
    await wait(500);
    await late.grant();
    expect(await creating).toMatchObject({ ok: true, mayStillLand: false });
  });

  test('429: every create is done in the end, with the pauses the server asks for', async () => {
    const flags = ['--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=1'];
    await using strict = await startApiServer({ flags });
    using master = clientOf(strict);
    await installThings(master);
    const crowd = await createReader('crowd', strict);
    await crowd.grant();
    const token = await crowd.issue(); // requests of system:masters are never throttled
    const access = async () => ({
      ...(await accessAt(strict, portOf(strict))),
      headers: { authorization: `Bearer ${token}` },
    });
    using client = new KubeClient(access, { userAgent: 'test' });
    await vi.waitFor(async () => expect(await client.list(THINGS)).toMatchObject({ ok: true }), PATIENCE_MS);

    const names = Array.from({ length: 40 }, (_, index) => `crowd-${index}`);
    const options = { deadlineMs: client.timing.nowMs() + 40_000, isOurs: () => true };
    const created = await Promise.all(names.map((name) => createDefinite(client, THINGS, thing(name), options)));
    expect(created.filter(({ ok }) => !ok)).toEqual([]);
    const refused = await strict.requestCount({ verb: 'POST', resource: 'things', code: '429' });
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(40 * 10);
  });

  test('a list through a server that lags has every finished write', async () => {
    await using second = await server.secondServer();
    using lagging = clientOf(second);
    await installThings(lagging);
    const agent = new Agent({ keepAlive: true });
    const readCache = () =>
      callApi(second, { path: '/apis/kube.test/v1/things?resourceVersion=0', token: server.adminToken, agent });
    await readCache();
    let wouldHaveMissed = 0;
    for (let round = 0; round < 40; round += 1) {
      const name = `lagged-${round}`;
      second.pause();
      const fromCache = readCache();
      await wait(20);
      expect(await admin.create(THINGS, thing(name))).toMatchObject({ ok: true });
      const listing = lagging.list(THINGS, { fieldSelector: `metadata.name=${name}` });
      await wait(20);
      second.resume();
      const listed = await listing;
      expect(listed.ok && listed.object.items.length).toBe(1);
      wouldHaveMissed += Number(!JSON.stringify((await fromCache).body).includes(`"${name}"`));
    }
    agent.destroy();
    expect(wouldHaveMissed).toBeGreaterThan(0);
  });
});
