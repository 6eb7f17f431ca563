import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServingCertificate, type SignedCertificate } from './certificates.ts';

export interface Credentials extends SignedCertificate {
  readonly adminToken: string;
  readonly tokenFile: string;
  /** Signs and verifies service account tokens. */
  readonly signingKeyFile: string;
}

/** The certificate is good for loopback and for these addresses. */
export async function createCredentials(dir: string, addresses: readonly string[] = []): Promise<Credentials> {
  const adminToken = randomBytes(16).toString('hex');
  const tokenFile = join(dir, 'tokens.csv');
  const signingKeyFile = join(dir, 'service-account.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(tokenFile, `${adminToken},admin,admin,system:masters\n`);
  // kube-apiserver finds the public key in a sec1 file, but not in a pkcs8 one.
  await writeFile(signingKeyFile, privateKey.export({ type: 'sec1', format: 'pem' }));
  return { ...(await createServingCertificate(dir, addresses)), adminToken, tokenFile, signingKeyFile };
}

type Login = Pick<Credentials, 'caFile' | 'adminToken'>;

/** JSON is YAML: kubectl and every client library read it. */
export async function writeKubeconfig(file: string, url: string, { caFile, adminToken }: Login): Promise<void> {
  const name = 'ipledger-test';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name, user: { token: adminToken } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  await writeFile(file, JSON.stringify(config, null, 2));
}
