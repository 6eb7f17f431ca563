import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createCa, type Identity, issueServing } from './certificate.ts';

const run = promisify(execFile);
const NAMES = ['ipledger-controller.ipledger.svc', 'localhost', '127.0.0.1', 'fd00::1'];
const DAY_MS = 86_400_000;
const from = new Date(Date.now() - DAY_MS);
const validFor = (days: number) => ({ from, to: new Date(Date.now() + days * DAY_MS) });

function makePair(days = 90): { ca: Identity; serving: Identity } {
  const ca = createCa('ipledger-webhook', validFor(3_650));
  return {
    ca,
    serving: issueServing({ name: 'ipledger-webhook', key: createPrivateKey(ca.key) }, NAMES, validFor(days)),
  };
}

async function directoryWith(files: Readonly<Record<string, string>>): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'certificates-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe('judged by openssl', () => {
  const openssl = async (files: Readonly<Record<string, string>>, ...args: string[]) => {
    await using directory = await directoryWith(files);
    const { stdout } = await run('openssl', args, { cwd: directory.path });
    return stdout;
  };
  const VERIFY = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'ca.crt'];

  test.each(NAMES)('the serving certificate is good for %s, by the strict rules', async (name) => {
    const { ca, serving } = makePair();
    const asked = name.includes(':') || /^\d/.test(name) ? '-verify_ip' : '-verify_hostname';
    const files = { 'ca.crt': ca.cert, 's.crt': serving.cert };
    expect(await openssl(files, ...VERIFY, asked, name, 's.crt')).toBe('s.crt: OK\n');
  });

  test('and for no other name', async () => {
    const { ca, serving } = makePair();
    const files = { 'ca.crt': ca.cert, 's.crt': serving.cert };
    await expect(openssl(files, ...VERIFY, '-verify_hostname', 'evil', 's.crt')).rejects.toThrow(/mismatch/i);
  });

  test('another root of the same name does not vouch for it', async () => {
    const files = { 'ca.crt': makePair().ca.cert, 's.crt': makePair().serving.cert };
    await expect(openssl(files, ...VERIFY, 's.crt')).rejects.toThrow(/unable to get local issuer/);
  });

  test('of two roots in one bundle it finds its own', async () => {
    const { ca, serving } = makePair();
    const files = { 'ca.crt': makePair().ca.cert + ca.cert, 's.crt': serving.cert };
    expect(await openssl(files, ...VERIFY, 's.crt')).toBe('s.crt: OK\n');
  });

  test('a certificate that ends after 2050 is still one', async () => {
    const { ca } = makePair();
    const key = createPrivateKey(ca.key);
    const { cert } = issueServing({ name: 'ipledger-webhook', key }, NAMES, {
      from,
      to: new Date('2060-02-03T04:05:06Z'),
    });
    expect(await openssl({ 's.crt': cert }, 'x509', '-in', 's.crt', '-noout', '-enddate')).toContain(
      'notAfter=Feb  3 04:05:06 2060 GMT',
    );
  });
});

test('Node reads what was meant', () => {
  const { ca, serving } = makePair();
  const root = new X509Certificate(ca.cert);
  const leaf = new X509Certificate(serving.cert);
  expect(root.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.checkIssued(root)).toBe(true);
  expect(leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.checkPrivateKey(createPrivateKey(serving.key))).toBe(true);
  expect(leaf.subjectAltName).toBe(
    'DNS:ipledger-controller.ipledger.svc, DNS:localhost, IP Address:127.0.0.1, IP Address:FD00:0:0:0:0:0:0:1',
  );
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

test('serial numbers differ', () => {
  const serials = Array.from({ length: 50 }, () => new X509Certificate(createCa('x', validFor(1)).cert).serialNumber);
  expect(new Set(serials).size).toBe(50);
});

test('a handshake succeeds with its root, and fails with another', async () => {
  const { ca, serving } = makePair();
  const server = createServer({ cert: serving.cert, key: serving.key }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const shake = (root: string) =>
    new Promise<boolean>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', ca: root }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.once('error', reject);
    });
  try {
    expect(await shake(ca.cert)).toBe(true);
    await expect(shake(makePair().ca.cert)).rejects.toThrow();
  } finally {
    server.close();
  }
});
