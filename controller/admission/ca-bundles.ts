import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type Resource } from '#pkg/kube/objects/kube-object.ts';

const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1' };
export const WEBHOOK_CONFIGURATIONS: readonly Resource[] = [
  { ...REGISTRATION, plural: 'mutatingwebhookconfigurations', kind: 'MutatingWebhookConfiguration' },
  { ...REGISTRATION, plural: 'validatingwebhookconfigurations', kind: 'ValidatingWebhookConfiguration' },
];
export const CONFIGURATION = 'ipledger';

/** Which configurations do not exist, and which had to be changed. */
export interface BundleOutcome {
  readonly missing: readonly string[];
  readonly written: readonly string[];
}

export async function putCaBundles(client: KubeClient, bundle: string): Promise<BundleOutcome> {
  const caBundle = Buffer.from(bundle, 'utf8').toString('base64');
  const missing: string[] = [];
  const changed: string[] = [];
  for (const resource of WEBHOOK_CONFIGURATIONS) {
    const found = await client.get(resource, { name: CONFIGURATION });
    if (!found.ok && found.because === 'NotFound') {
      missing.push(resource.kind);
      continue;
    }
    if (!found.ok) throw new Error(`${resource.plural} ${CONFIGURATION}: ${found.because}: ${found.message}`);
    const webhooks: unknown[] = Array.isArray(found.object['webhooks']) ? found.object['webhooks'] : [];
    if (webhooks.every((webhook) => clientConfigOf(webhook)['caBundle'] === caBundle)) continue;
    const trusting = webhooks.map((webhook) => ({
      ...(isMap(webhook) ? webhook : {}),
      clientConfig: { ...clientConfigOf(webhook), caBundle },
    }));
    const written = await client.update(resource, { ...found.object, webhooks: trusting });
    if (written.ok) changed.push(resource.kind);
    // Another process changed it meanwhile: the next look decides.
    else if (written.because !== 'Conflict') {
      throw new Error(`the caBundle of ${resource.plural} ${CONFIGURATION}: ${written.because}: ${written.message}`);
    }
  }
  return { missing, written: changed };
}

function clientConfigOf(webhook: unknown): Readonly<Record<string, unknown>> {
  const config = isMap(webhook) ? webhook['clientConfig'] : undefined;
  return isMap(config) ? config : {};
}
