import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { CONFIGURATION, WEBHOOK_CONFIGURATIONS } from '#controller/admission/ca-bundles.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { sure } from '#test/support/sure.ts';

const FILE = join(import.meta.dirname, '../../deploy/webhook.yaml');

interface Webhook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}

interface Configuration {
  readonly kind: string;
  readonly webhooks: readonly Webhook[];
}

/** The configurations of deploy/webhook.yaml, with a port of this machine instead of the Service. */
export async function installWebhooks(admin: KubeClient, port: number): Promise<void> {
  const documents = parseAllDocuments(await readFile(FILE, 'utf8')).map((document) => document.toJS() as Configuration);
  for (const resource of WEBHOOK_CONFIGURATIONS) {
    const { webhooks } = documents.find(({ kind }) => kind === resource.kind) ?? { webhooks: [] };
    const local = webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { url: `https://127.0.0.1:${port}${webhook.clientConfig.service.path}` },
    }));
    await sure(admin.create(resource, { metadata: { name: CONFIGURATION }, webhooks: local }));
  }
}

export async function removeWebhooks(admin: KubeClient): Promise<void> {
  for (const resource of WEBHOOK_CONFIGURATIONS) {
    const found = await admin.get(resource, { name: CONFIGURATION });
    if (found.ok) await sure(admin.delete(resource, { name: CONFIGURATION, uid: found.object.metadata.uid }));
  }
}
