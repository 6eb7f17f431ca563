import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClientCertificate } from '#test/support/certificates.ts';
import { createCa, issueServing } from './certificate.ts';
import { admissionHandlers } from './handlers.ts';
import { Reservations } from './reservations.ts';
import { type AdmissionServer, startAdmissionServer } from './server.ts';

const life = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) };
const ca = createCa('ca', life);
const makeIdentity = () => issueServing({ name: 'ca', key: createPrivateKey(ca.key) }, ['127.0.0.1'], life);

let server: AdmissionServer;
let isWorldAway = false;

beforeAll(async () => {
  const handlers = admissionHandlers({
    enableIPv4: true,
    enableIPv6: false,
    enableSpiderSubnet: true,
    enableValidatingResourcesDeletedWebhook: true,
    ledger: { takenOf: async () => [], get: async () => null },
    world: {
      pools: async () => [],
      subnets: async () => (isWorldAway ? Promise.reject(new Error('the world is away')) : []),
    },
    reservations: new Reservations(
      () => 0,
      async () => {},
    ),
  });
  const log = pino({ level: 'silent' });
  server = await startAdmissionServer({ handlers, identity: makeIdentity(), port: 0, host: '127.0.0.1', log });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly serial: string;
}

function call(path: string, body: string | Buffer | null, method = body === null ? 'GET' : 'POST'): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = request({ host: '127.0.0.1', port: server.port, path, method, ca: ca.cert, agent: false });
  outgoing.once('error', reject);
  outgoing.once('response', (incoming) => {
    const serial =
      'getPeerCertificate' in incoming.socket
        ? (incoming.socket as never as { getPeerCertificate(): { serialNumber: string } }).getPeerCertificate()
            .serialNumber
        : '';
    json(incoming).then((answer) => resolve({ status: incoming.statusCode ?? 0, body: answer, serial }), reject);
  });
  outgoing.end(body ?? undefined);
  return promise;
}

const VALIDATE = '/validate-spiderpool-spidernet-io-v2beta1-spiderippool';
const MUTATE = '/mutate-spiderpool-spidernet-io-v2beta1-spiderippool';
const POOL = {
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderIPPool',
  metadata: { name: 'p' },
  spec: { subnet: '10.6.0.0/16', ips: ['10.6.0.1'] },
};
const review = (request: object) =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u', name: 'p', ...request },
  });

test('the health check answers', async () => {
  expect(await call('/webhook-health-check', null)).toMatchObject({ status: 200 });
});

test('a good pool is allowed, a bad one refused in words that name the field', async () => {
  expect(await call(VALIDATE, review({ operation: 'CREATE', object: POOL }))).toMatchObject({
    status: 200,
    body: { kind: 'AdmissionReview', response: { uid: 'u', allowed: true } },
  });
  const object = { ...POOL, spec: { subnet: '10.6.0.0/16', ips: ['10.6.0.9-10.6.0.1'] } };
  expect(await call(VALIDATE, review({ operation: 'CREATE', object }))).toMatchObject({
    status: 200,
    body: {
      response: {
        allowed: false,
        status: {
          code: 422,
          reason: 'Invalid',
          details: { name: 'p', causes: [{ reason: 'FieldValueInvalid', field: 'spec.ips[0]' }] },
        },
      },
    },
  });
});

test('a family that is switched off is forbidden', async () => {
  const object = { ...POOL, spec: { subnet: 'fd00::/64' } };
  const { body } = await call(VALIDATE, review({ operation: 'CREATE', object }));
  expect(body).toMatchObject({
    response: { status: { details: { causes: [{ reason: 'FieldValueForbidden', message: 'IPv6 is disabled' }] } } },
  });
});

describe('whatever is sent, the next call is answered', () => {
  test.each([
    { name: 'no JSON', body: '{', status: 400 },
    { name: 'null', body: 'null', status: 400 },
    { name: 'a review without a request', body: '{"kind":"AdmissionReview"}', status: 400 },
    { name: 'no uid', body: JSON.stringify({ request: { operation: 'CREATE' } }), status: 400 },
    { name: 'a uid of a megabyte', body: review({ uid: 'x'.repeat(1 << 20), operation: 'CREATE' }), status: 400 },
    { name: 'a strange operation', body: review({ operation: 'CONNECT' }), status: 400 },
    { name: 'an object that is a list', body: review({ operation: 'CREATE', object: [] }), status: 400 },
    { name: 'a create without an object', body: review({ operation: 'CREATE' }), status: 500 },
    { name: 'deep nesting', body: `${'['.repeat(200_000)}`, status: 400 },
    { name: 'a body of 9 MiB', body: Buffer.alloc(9 << 20, 0x20), status: 413 },
  ])('$name', async ({ body, status }) => {
    expect(await call(VALIDATE, body)).toMatchObject({ status });
    expect(await call('/webhook-health-check', null)).toMatchObject({ status: 200 });
  });

  test.each([
    { name: 'an unknown path', path: '/validate-pods', body: '{}', status: 404 },
    { name: 'a GET', path: VALIDATE, body: null, status: 405 },
  ])('$name', async ({ path, body, status }) => {
    expect(await call(path, body)).toMatchObject({ status });
  });

  test('an object full of rubbish is refused, not a crash', async () => {
    const object = {
      ...POOL,
      metadata: { name: 'p', labels: 7 },
      spec: { subnet: {}, ips: { a: 1 }, __proto__: { x: 1 } },
    };
    const { body } = await call(VALIDATE, review({ operation: 'CREATE', object }));
    expect(body).toMatchObject({ response: { allowed: false } });
  });

  test('a mutation that cannot look at the subnets fails, so that the API server asks again', async () => {
    isWorldAway = true;
    expect(await call(MUTATE, review({ operation: 'CREATE', object: POOL }))).toMatchObject({ status: 500 });
    isWorldAway = false;
  });
});

test('a new certificate is shown from the next handshake on', async () => {
  const before = await call('/webhook-health-check', null);
  server.present(makeIdentity());
  const after = await call('/webhook-health-check', null);
  expect(after.status).toBe(200);
  expect(after.serial).not.toBe(before.serial);
});

test('unfinished reviews of strangers neither fill the memory nor keep a review from being answered', async () => {
  const at = { host: '127.0.0.1', port: server.port, path: VALIDATE, method: 'POST', ca: ca.cert, agent: false };
  const strangers = Array.from({ length: 100 }, () => {
    const outgoing = request({ ...at, localAddress: '127.0.0.9', headers: { 'content-length': 8 << 20 } });
    const refused = new Promise<number>((resolve) => {
      outgoing.once('response', ({ statusCode = 0 }) => resolve(statusCode));
    });
    outgoing.on('error', () => {});
    outgoing.write(Buffer.alloc(1 << 20, 0x20));
    return { outgoing, refused };
  });
  expect(await Promise.any(strangers.map(({ refused }) => refused))).toBe(503);
  const object = { ...POOL, metadata: { name: 'other' }, spec: { subnet: '10.7.0.0/16' } };
  expect(await call(VALIDATE, review({ operation: 'CREATE', object }))).toMatchObject({ status: 200 });
  for (const { outgoing } of strangers) outgoing.destroy();
});

test('with a client CA only those with its certificate are answered, also after the certificate was replaced', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'client-ca-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const { caFile, certFile, keyFile } = await createClientCertificate(dir);
  const read = (file: string) => readFile(file, 'utf8');
  const log = pino({ level: 'silent' });
  const options = { handlers: new Map(), identity: makeIdentity(), clientCa: await read(caFile), port: 0, log };
  await using guarded = await startAdmissionServer({ ...options, host: '127.0.0.1' });
  const statusOf = (client: object) =>
    new Promise((resolve) => {
      const at = { host: '127.0.0.1', port: guarded.port, path: '/webhook-health-check', ca: ca.cert, agent: false };
      const outgoing = request({ ...at, ...client }, ({ statusCode }) => resolve(statusCode));
      outgoing.on('error', () => resolve('cut off'));
      outgoing.end();
    });
  const own = { cert: await read(certFile), key: await read(keyFile) };
  const foreign = makeIdentity();
  expect([await statusOf(own), await statusOf({}), await statusOf(foreign)]).toEqual([200, 'cut off', 'cut off']);
  guarded.present(makeIdentity());
  expect([await statusOf(own), await statusOf({})]).toEqual([200, 'cut off']);
});
