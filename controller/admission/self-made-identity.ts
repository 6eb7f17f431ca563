import type { Logger } from 'pino';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';
import { type BundleOutcome, putCaBundles } from './ca-bundles.ts';
import { type Identity, issueServing } from './certificate.ts';
import type { IdentitySource } from './identity-source.ts';
import { ensureCa, type WebhookCa } from './webhook-ca.ts';

export interface SelfMadeOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly namespace: string;
  /** DNS names and addresses that the API server calls the webhook by. */
  readonly names: readonly string[];
  readonly now: () => Date;
  readonly checkEveryMs?: number;
  readonly caLifeMs?: number;
  readonly servingLifeMs?: number;
}

interface Issued {
  readonly identity: Identity;
  readonly fingerprint: string;
  readonly fromMs: number;
  readonly renewAtMs: number;
}

/** The API server refuses every pool while the caBundle is missing, so it must be there soon after the configurations. */
const CHECK_EVERY_MS = 5_000;
const DAY_MS = 86_400_000;
const SERVING_LIFE_MS = 90 * DAY_MS;
const BACKDATED_MS = 3_600_000;

/** A certificate of this replica's own, signed by the CA that all replicas share, renewed after two thirds of its life. */
export async function selfMadeIdentity(options: SelfMadeOptions): Promise<IdentitySource> {
  const { client, log, namespace, now } = options;
  const listeners = new Listeners<Identity>();
  const stop = new AbortController();
  const caOptions = { namespace, now, ...(options.caLifeMs === undefined ? {} : { lifeMs: options.caLifeMs }) };

  let wasMissing = '';
  const report = ({ missing, written }: BundleOutcome): void => {
    if (written.length > 0) log.info({ configurations: written }, 'caBundle written into the webhook configurations');
    const isMissing = missing.join(', ');
    if (isMissing !== wasMissing && isMissing !== '') {
      log.warn({ missing }, 'webhook configuration does not exist: pools are not validated until it is applied');
    }
    wasMissing = isMissing;
  };
  /** Whether the API server trusts this CA already. */
  const bundle = async (ca: WebhookCa): Promise<boolean> => {
    try {
      const outcome = await putCaBundles(client, ca.bundle);
      report(outcome);
      return outcome.written.length === 0;
    } catch (thrown) {
      log.warn({ err: thrown }, 'cannot write the caBundle of the webhook configurations');
      return false;
    }
  };
  const check = async (last: Issued | null): Promise<Issued> => {
    const ca = await ensureCa(client, caOptions);
    const isTrusted = await bundle(ca);
    // A certificate that begins in the future was made while the clock was ahead: clients refuse it.
    if (last === null || now().getTime() < last.fromMs) return issue(ca, options);
    if (last.fingerprint === ca.fingerprint) return now().getTime() < last.renewAtMs ? last : issue(ca, options);
    // A new CA: the API server needs a moment until it trusts it, the old one is trusted meanwhile.
    return isTrusted ? issue(ca, options) : last;
  };

  let issued = await check(null);
  const run = async () => {
    for (;;) {
      await sleep(client.timing, options.checkEveryMs ?? CHECK_EVERY_MS, stop.signal);
      if (stop.signal.aborted) return;
      try {
        const next = await check(issued);
        if (next === issued) continue;
        issued = next;
        log.info({ until: new Date(next.renewAtMs) }, 'webhook certificate replaced');
        listeners.tell(next.identity);
      } catch (thrown) {
        log.warn({ err: thrown }, 'cannot check the webhook certificate');
      }
    }
  };
  const running = run();
  return {
    current: () => issued.identity,
    onChange: (listener) => listeners.add(listener),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

function issue(ca: WebhookCa, { names, now, servingLifeMs = SERVING_LIFE_MS }: SelfMadeOptions): Issued {
  const nowMs = now().getTime();
  const from = new Date(nowMs - Math.min(BACKDATED_MS, servingLifeMs / 10));
  const identity = issueServing(ca, names, { from, to: new Date(nowMs + servingLifeMs) });
  return { identity, fingerprint: ca.fingerprint, fromMs: from.getTime(), renewAtMs: nowMs + (servingLifeMs * 2) / 3 };
}
