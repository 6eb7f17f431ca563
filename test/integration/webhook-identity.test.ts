import { X509Certificate } from 'node:crypto';
import { pino } from 'pino';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { CONFIGURATION, WEBHOOK_CONFIGURATIONS } from '#controller/admission/ca-bundles.ts';
import type { Identity } from '#controller/admission/certificate.ts';
import { selfMadeIdentity } from '#controller/admission/self-made-identity.ts';
import { CA_SECRET, ensureCa, SECRETS } from '#controller/admission/webhook-ca.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { clientOf } from './kube-things.ts';
import { silent } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { sure } from './spider-objects.ts';
import { installWebhooks, removeWebhooks } from './webhook-install.ts';

const HOUR_MS = 3_600_000;
const AT = { namespace: 'ipledger', name: CA_SECRET };

let cluster: LedgerCluster;
let admin: KubeClient;

beforeAll(async () => {
  cluster = await startLedgerCluster();
  admin = clientOf(cluster.server);
  return async () => {
    admin[Symbol.dispose]();
    await cluster[Symbol.asyncDispose]();
  };
});

beforeEach(async () => {
  await removeWebhooks(admin);
  await installWebhooks(admin, 9);
  const secret = await admin.get(SECRETS, AT);
  if (secret.ok) await sure(admin.delete(SECRETS, { ...AT, uid: secret.object.metadata.uid }));
});

/** All PEM texts that both configurations trust; fails where they differ. */
async function trusted(): Promise<string[]> {
  const bundles = new Set<string>();
  for (const resource of WEBHOOK_CONFIGURATIONS) {
    const { webhooks } = (await sure(admin.get(resource, { name: CONFIGURATION }))) as unknown as {
      webhooks: { clientConfig: { caBundle?: string } }[];
    };
    for (const { clientConfig } of webhooks) bundles.add(clientConfig.caBundle ?? '');
  }
  expect(bundles.size).toBe(1);
  const [bundle = ''] = bundles;
  const text = Buffer.from(bundle, 'base64').toString('utf8');
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

const isSignedByOneOf = ({ cert }: Identity, roots: readonly string[]) =>
  roots.some((root) => new X509Certificate(cert).verify(new X509Certificate(root).publicKey));

const start = (now: () => Date, more: object = {}) =>
  selfMadeIdentity({
    client: cluster.controller(),
    log: silent,
    namespace: 'ipledger',
    names: ['127.0.0.1'],
    now,
    checkEveryMs: 200,
    ...more,
  });

test('ten replicas that start at once share one CA, which is written into the webhook configurations', async () => {
  const replicas = await Promise.all(Array.from({ length: 10 }, () => start(() => new Date())));
  try {
    await vi.waitFor(async () => expect(await trusted()).toHaveLength(1), 30_000);
    const roots = await trusted();
    for (const replica of replicas) expect(isSignedByOneOf(replica.current(), roots)).toBe(true);
    expect(new Set(replicas.map((replica) => replica.current().cert)).size).toBe(10);
  } finally {
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
  }
});

test('configurations that are applied after the controller, or again, get the caBundle within seconds, and it is logged', async () => {
  await removeWebhooks(admin);
  const lines: string[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  await using _ = await start(() => new Date(), { checkEveryMs: undefined, log });
  expect(lines.join('')).toContain('webhook configuration does not exist');
  for (let time = 0; time < 2; time += 1) {
    await removeWebhooks(admin);
    await installWebhooks(admin, 9);
    await vi.waitFor(async () => expect(await trusted()).toHaveLength(1), { timeout: 20_000, interval: 200 });
  }
  expect(lines.filter((line) => line.includes('caBundle written')).length).toBeGreaterThanOrEqual(2);
});

test('a serving certificate is renewed after two thirds of its life, by the same CA', async () => {
  let nowMs = Date.now();
  await using source = await start(() => new Date(nowMs), { servingLifeMs: 90 * HOUR_MS });
  const first = source.current();
  const roots = await trusted();
  const changes: Identity[] = [];
  using _ = source.onChange((identity) => void changes.push(identity));
  nowMs += 59 * HOUR_MS;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(source.current()).toBe(first);
  nowMs += 2 * HOUR_MS;
  await vi.waitFor(() => expect(changes).toHaveLength(1), 30_000);
  expect(source.current()).toBe(changes[0]);
  expect(await trusted()).toEqual(roots);
  expect(isSignedByOneOf(source.current(), roots)).toBe(true);
});

test('a CA near its expiry is followed by another, and no replica serves a certificate that is not trusted yet', async () => {
  let nowMs = Date.now();
  const life = { caLifeMs: 100 * HOUR_MS, servingLifeMs: 1_000 * HOUR_MS };
  const replicas = [await start(() => new Date(nowMs), life), await start(() => new Date(nowMs), life)];
  try {
    const [oldRoot = ''] = await trusted();
    const seen: Promise<boolean>[] = [];
    for (const replica of replicas) {
      replica.onChange((identity) => void seen.push(trusted().then((roots) => isSignedByOneOf(identity, roots))));
    }
    nowMs += 81 * HOUR_MS;
    await vi.waitFor(async () => expect(await trusted()).toHaveLength(2), 30_000);
    const [newRoot = '', previous] = await trusted();
    expect(previous).toBe(oldRoot);
    await vi.waitFor(() => {
      for (const replica of replicas) expect(isSignedByOneOf(replica.current(), [newRoot])).toBe(true);
    }, 30_000);
    expect(await Promise.all(seen)).toEqual([true, true]);
  } finally {
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
  }
});

test('certificates that were made while the clock was ahead are replaced when it is right', async () => {
  let nowMs = Date.now() + 30 * 24 * HOUR_MS;
  await using source = await start(() => new Date(nowMs));
  const isValid = (cert: string) => Date.parse(new X509Certificate(cert).validFrom) <= Date.now();
  expect(isValid(source.current().cert)).toBe(false);
  nowMs = Date.now();
  await vi.waitFor(async () => {
    const [root = ''] = await trusted();
    expect([isValid(root), isValid(source.current().cert)]).toEqual([true, true]);
    expect(isSignedByOneOf(source.current(), [root])).toBe(true);
  }, 30_000);
});

test('a damaged Secret is replaced', async () => {
  const client = cluster.controller();
  const options = { namespace: 'ipledger', now: () => new Date() };
  const first = await ensureCa(client, options);
  const secret = await sure(admin.get(SECRETS, AT));
  await sure(admin.update(SECRETS, { ...secret, data: { 'ca.crt': 'AAAA', 'ca.key': 'AAAA' } }));
  const second = await ensureCa(client, options);
  expect(second.fingerprint).not.toBe(first.fingerprint);
  expect((await ensureCa(client, options)).fingerprint).toBe(second.fingerprint);
});
