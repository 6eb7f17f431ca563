import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startAdmission } from '#controller/admission/start-admission.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { installWebhooks } from './webhook-install.ts';

const IN_FORCE_TIMEOUT_MS = 60_000;

export interface WebhookServing {
  readonly admin: KubeClient;
  /** With the rights of the controller. */
  readonly client: KubeClient;
  readonly ledger: Ledger;
}

/** The webhook of the controller, in this process. Resolves when it is in force. */
export async function serveWebhook({ admin, client, ledger }: WebhookServing): Promise<AsyncDisposable> {
  const port = await findFreePort();
  await installWebhooks(admin, port);
  const deps = { client, ledger, log: pino({ level: 'silent' }), now: () => new Date() };
  const served = await startAdmission(deps, {
    enableIPv4: true,
    enableIPv6: true,
    enableSpiderSubnet: true,
    enableValidatingResourcesDeletedWebhook: true,
    port,
    host: '127.0.0.1',
    clientCaFile: '',
    tls: { from: 'self', namespace: 'ipledger', names: ['127.0.0.1'] },
  });
  // The API server takes up the configuration, and whom to trust, some time after they were stored.
  const deadlineMs = performance.now() + IN_FORCE_TIMEOUT_MS;
  while (!(await isInForce(admin))) {
    if (performance.now() > deadlineMs) throw new Error('the webhook does not take effect');
    await sleep(50);
  }
  return served;
}

/** Without an answer of the webhook the API server refuses every pool. */
async function isInForce(admin: KubeClient): Promise<boolean> {
  const made = await admin.create(POOLS, { metadata: { name: 'probe' }, spec: { subnet: '192.0.2.0/24', ips: [] } });
  if (!made.ok) return false;
  const { uid, finalizers } = made.object.metadata;
  await admin.patch(POOLS, { name: 'probe' }, { metadata: { finalizers: null } });
  await admin.delete(POOLS, { name: 'probe', uid });
  return finalizers !== undefined; // the webhook adds one
}
