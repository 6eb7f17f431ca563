import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { createCa } from './certificate.ts';

export interface WebhookCa {
  readonly name: string;
  readonly cert: string;
  readonly key: KeyObject;
  readonly fingerprint: string;
  /** The CAs that the API server should trust: this one and the one before it. */
  readonly bundle: string;
}

export interface CaOptions {
  readonly namespace: string;
  readonly now: () => Date;
  readonly lifeMs?: number;
}

export const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
export const CA_SECRET = 'ipledger-webhook-ca';
const NAME = 'ipledger-webhook';
const DAY_MS = 86_400_000;
const LIFE_MS = 3_650 * DAY_MS;
/** Certificates begin this much earlier, because clocks may be behind. */
const BACKDATED_MS = 3_600_000;

/** The one CA of all replicas, kept in a Secret. The first replica creates it; conflicting creates and updates are decided by the API server. */
export async function ensureCa(client: KubeClient, options: CaOptions): Promise<WebhookCa> {
  const at = { namespace: options.namespace, name: CA_SECRET };
  const found = await client.get(SECRETS, at);
  if (found.ok) return renewIfDue(client, found.object, options);
  if (found.because !== 'NotFound') throw new Error(`the Secret ${CA_SECRET}: ${found.because}: ${found.message}`);
  const created = await client.create(SECRETS, { metadata: at, type: 'Opaque', data: newCaData(options, null) });
  if (created.ok) return readCa(created.object);
  if (created.because !== 'AlreadyExists') {
    throw new Error(`the Secret ${CA_SECRET} cannot be made: ${created.because}: ${created.message}`);
  }
  const others = await client.get(SECRETS, at);
  if (!others.ok) throw new Error(`the Secret ${CA_SECRET}: ${others.because}: ${others.message}`);
  return readCa(others.object);
}

async function renewIfDue(client: KubeClient, secret: KubeObject, options: CaOptions): Promise<WebhookCa> {
  const ca = tryReadCa(secret);
  if (ca !== null && !isDue(new X509Certificate(ca.cert), options.now())) return ca;
  const data = newCaData(options, ca?.cert ?? null);
  const written = await client.update(SECRETS, { ...secret, data });
  if (written.ok) return readCa(written.object);
  // Another replica was faster: what it wrote is found at the next look.
  if (written.because === 'Conflict' && ca !== null) return ca;
  throw new Error(`the Secret ${CA_SECRET} cannot be renewed: ${written.because}: ${written.message}`);
}

/**
 * A fifth of its life before the end: long before any serving certificate of it would outlive it. Also before its beginning: it
 * was made while the clock was ahead, and clients refuse it now that the clock is right.
 */
function isDue(cert: X509Certificate, now: Date): boolean {
  const [from, to] = [Date.parse(cert.validFrom), Date.parse(cert.validTo)];
  return now.getTime() < from || now.getTime() > to - (to - from) / 5;
}

function newCaData({ now, lifeMs = LIFE_MS }: CaOptions, previous: string | null): Record<string, string> {
  const from = new Date(now().getTime() - Math.min(BACKDATED_MS, lifeMs / 10));
  const { cert, key } = createCa(NAME, { from, to: new Date(now().getTime() + lifeMs) });
  return {
    'ca.crt': toBase64(cert),
    'ca.key': toBase64(key),
    ...(previous === null ? {} : { 'previous.crt': toBase64(previous) }),
  };
}

function readCa(secret: KubeObject): WebhookCa {
  const data = isMap(secret['data']) ? secret['data'] : {};
  const text = (field: string) => Buffer.from(String(data[field] ?? ''), 'base64').toString('utf8');
  const cert = new X509Certificate(text('ca.crt'));
  const key = createPrivateKey(text('ca.key'));
  if (!cert.ca || !cert.checkPrivateKey(key))
    throw new Error(`the key in the Secret ${CA_SECRET} is not that of its CA`);
  const pem = cert.toString();
  return { name: NAME, cert: pem, key, fingerprint: cert.fingerprint256, bundle: pem + text('previous.crt') };
}

function tryReadCa(secret: KubeObject): WebhookCa | null {
  try {
    return readCa(secret);
  } catch {
    return null; // damaged: it is made anew
  }
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
