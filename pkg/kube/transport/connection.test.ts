import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { makeTemporaryDirectory } from '#test/contract/temporary-directory.ts';
import { createServingCertificate } from '#test/support/certificates.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { destroySession, openSession } from './connection.ts';

const LIMITS = { connectTimeoutMs: 1_000, pingEveryMs: 60_000, pingTimeoutMs: 60_000 };

let server: Http2SecureServer;
let ca: Buffer;

beforeAll(async () => {
  using directory = makeTemporaryDirectory();
  const files = await createServingCertificate(directory.path);
  ca = readFileSync(files.caFile);
  server = createSecureServer({ cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) });
  server.on('session', (session) => session.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return () => void server.close();
});

const portOf = () => (server.address() as AddressInfo).port;
const accessAt = (port: number, onCertificate: () => void = () => {}) => ({
  origin: `https://127.0.0.1:${port}`,
  pathPrefix: '',
  headers: {},
  tls: { ca, checkServerIdentity: () => void onCertificate() },
});

test('a connection whose server has spoken is a session, until it is destroyed', async () => {
  await using proxy = await startTcpProxy(portOf());
  const session = await openSession(accessAt(proxy.port), LIMITS);
  expect(session.remoteSettings).toMatchObject({ enablePush: expect.any(Boolean) });
  expect(proxy.openConnections()).toBe(1);
  const closed = once(session, 'close');
  destroySession(session);
  await closed;
  expect(session.destroyed).toBe(true);
});

test('a connection that is reset between its handshake and the first bytes of the session is given up', async () => {
  await using proxy = await startTcpProxy(portOf());
  const opening = openSession(
    accessAt(proxy.port, () => proxy.cut()),
    LIMITS,
  );
  await expect(opening).rejects.toThrow(/no connection to the API server within 1000 ms|ECONNRESET/);
});
