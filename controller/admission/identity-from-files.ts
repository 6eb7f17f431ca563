import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import { SYSTEM_TIMING, sleep } from '#pkg/kube/transport/timing.ts';
import type { Identity } from './certificate.ts';
import type { IdentitySource } from './identity-source.ts';

export interface FilesOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly log: Logger;
  readonly checkEveryMs?: number;
}

const CHECK_EVERY_MS = 60_000;

/** A certificate that is managed elsewhere, e.g. by cert-manager in a mounted Secret, and so is the caBundle that the API server trusts. */
export async function identityFromFiles({
  certFile,
  keyFile,
  log,
  checkEveryMs,
}: FilesOptions): Promise<IdentitySource> {
  const listeners = new Listeners<Identity>();
  const stop = new AbortController();
  const read = async (): Promise<Identity> => {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    // Two files are not replaced at once: a pair that does not match yet must not be presented.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
      throw new Error(`${keyFile} is not the key of ${certFile}`);
    }
    return { cert, key };
  };
  let identity = await read();
  const run = async () => {
    for (;;) {
      await sleep(SYSTEM_TIMING, checkEveryMs ?? CHECK_EVERY_MS, stop.signal);
      if (stop.signal.aborted) return;
      try {
        const next = await read();
        if (next.cert === identity.cert && next.key === identity.key) continue;
        identity = next;
        log.info({ certFile }, 'webhook certificate replaced');
        listeners.tell(next);
      } catch (thrown) {
        log.warn({ err: thrown, certFile, keyFile }, 'cannot reload the webhook certificate');
      }
    }
  };
  const running = run();
  return {
    current: () => identity,
    onChange: (listener) => listeners.add(listener),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}
