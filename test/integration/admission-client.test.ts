import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startAdmission } from '#controller/admission/start-admission.ts';
import { FINALIZER, POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { startApiServer } from '#test/support/api-server.ts';
import { createClientCertificate } from '#test/support/certificates.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { clientOf } from './kube-things.ts';
import { silent } from './leader-views.ts';
import { joinLedgerCluster } from './ledger-cluster.ts';
import { poolOf, sure } from './spider-objects.ts';
import { installWebhooks } from './webhook-install.ts';

/** The two files of docs/admission.md, by which an API server shows a certificate to webhooks. */
async function writeServerFiles(dir: string, { certFile, keyFile }: { certFile: string; keyFile: string }) {
  const user = { 'client-certificate': certFile, 'client-key': keyFile };
  const kubeConfigFile = join(dir, 'webhooks.kubeconfig');
  await writeFile(kubeConfigFile, JSON.stringify({ apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] }));
  const apiVersion = 'apiserver.config.k8s.io/v1';
  const configuration = { apiVersion, kind: 'WebhookAdmissionConfiguration', kubeConfigFile };
  const plugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((name) => ({ name, configuration }));
  const file = join(dir, 'admission.json');
  await writeFile(file, JSON.stringify({ apiVersion, kind: 'AdmissionConfiguration', plugins }));
  return file;
}

/** Without a certificate, and whatever the server shows. */
function askAsStranger(port: number): Promise<number | 'cut off'> {
  const { promise, resolve } = Promise.withResolvers<number | 'cut off'>();
  const at = { host: '127.0.0.1', port, path: '/webhook-health-check', rejectUnauthorized: false, agent: false };
  const outgoing = request(at, ({ statusCode = 0 }) => resolve(statusCode));
  outgoing.on('error', () => resolve('cut off'));
  outgoing.end();
  return promise;
}

test('an API server with a client certificate is answered by a webhook that asks for it', async () => {
  await using stack = new AsyncDisposableStack();
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), 'client-ca-')), (path) => rm(path, { recursive: true }));
  const certificate = await createClientCertificate(dir);
  const file = await writeServerFiles(dir, certificate);
  const server = stack.use(await startApiServer({ flags: [`--admission-control-config-file=${file}`] }));
  await applyManifests(server, 'crds', 'admission-policy.yaml', 'rbac.yaml');
  const cluster = stack.use(await joinLedgerCluster(server));
  const admin = stack.use(clientOf(server));
  const client = cluster.controller();
  const port = await findFreePort();
  await installWebhooks(admin, port);
  stack.use(
    await startAdmission(
      { client, ledger: openKubernetesLedger(client), log: silent, now: () => new Date() },
      {
        enableIPv4: true,
        enableIPv6: true,
        enableSpiderSubnet: false,
        enableValidatingResourcesDeletedWebhook: true,
        host: '127.0.0.1',
        port,
        clientCaFile: certificate.caFile,
        tls: { from: 'self', namespace: 'ipledger', names: ['127.0.0.1'] },
      },
    ),
  );
  await vi.waitFor(
    async () => {
      const created = await sure(admin.create(POOLS, poolOf(`pool-${Date.now()}`, { subnet: '192.0.2.0/24' })));
      expect(created.metadata.finalizers).toEqual([FINALIZER]);
    },
    { timeout: 60_000, interval: 500 },
  );
  expect(await askAsStranger(port)).toBe('cut off');
});
