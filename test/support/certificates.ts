import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SignedCertificate {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A CA and a certificate for loopback, and for more addresses, signed by it; both in `dir`, valid for 30 days. */
export async function createServingCertificate(
  dir: string,
  addresses: readonly string[] = [],
): Promise<SignedCertificate> {
  const names = ['IP:127.0.0.1', 'DNS:localhost', ...addresses.map((address) => `IP:${address}`)];
  const caFile = join(dir, 'ca.crt');
  const caKeyFile = join(dir, 'ca.key');
  const certFile = join(dir, 'serving.crt');
  const keyFile = join(dir, 'serving.key');
  await createCertificate('ipledger-test-ca', caFile, caKeyFile, [
    ...['-addext', 'basicConstraints=critical,CA:TRUE'],
    ...['-addext', 'keyUsage=critical,keyCertSign'],
  ]);
  await createCertificate('kube-apiserver', certFile, keyFile, [
    ...['-CA', caFile, '-CAkey', caKeyFile],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-addext', 'extendedKeyUsage=serverAuth'],
    ...['-addext', `subjectAltName=${names.join()}`],
  ]);
  return { caFile, certFile, keyFile };
}

/** A CA and a client certificate signed by it, both in `dir`, valid for 30 days. */
export async function createClientCertificate(dir: string): Promise<SignedCertificate> {
  const at = {
    caFile: join(dir, 'client-ca.crt'),
    certFile: join(dir, 'client.crt'),
    keyFile: join(dir, 'client.key'),
  };
  const caKeyFile = join(dir, 'client-ca.key');
  await createCertificate('ipledger-test-client-ca', at.caFile, caKeyFile, [
    ...['-addext', 'basicConstraints=critical,CA:TRUE'],
    ...['-addext', 'keyUsage=critical,keyCertSign'],
  ]);
  await createCertificate('kube-apiserver-webhooks', at.certFile, at.keyFile, [
    ...['-CA', at.caFile, '-CAkey', caKeyFile],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-addext', 'extendedKeyUsage=clientAuth'],
  ]);
  return at;
}

async function createCertificate(name: string, certFile: string, keyFile: string, rest: string[]): Promise<void> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-keyout', keyFile];
  // An empty config keeps the machine's openssl.cnf from adding extensions of its own.
  const subject = ['-config', '/dev/null', '-subj', `/CN=${name}`, '-days', '30'];
  await promisify(execFile)('openssl', ['req', '-x509', ...key, ...subject, '-out', certFile, ...rest]);
}
