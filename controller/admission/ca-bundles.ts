import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type Resource } from '#pkg/kube/objects/kube-object.ts';

const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1' };
export const WEBHOOK_CONFIGURATIONS: readonly Resource[] = [
  { ...REGISTRATION, plural: 'mutatingwebhookconfigurations', kind: 'MutatingWebhookConfiguration' },
  { ...REGISTRATION, plural: 'validatingwebhookconfigurations', kind: 'ValidatingWebhookConfiguration' },
];
export const CONFIGURATION = 'ipledger';

/** True where all configurations that exist had the bundle already; false where one was changed just now. */
export async function putCaBundles(client: KubeClient, bundle: string): Promise<boolean> {
  const caBundle = Buffer.from(bundle, 'utf8').toString('base64');
  let wasThere = true;
  for (const resource of WEBHOOK_CONFIGURATIONS) {
    const found = await client.get(resource, { name: CONFIGURATION });
    if (!found.ok && found.because === 'NotFound') continue;
    if (!found.ok) throw new Error(`${resource.plural} ${CONFIGURATION}: ${found.because}: ${found.message}`);
    const webhooks: unknown[] = Array.isArray(found.object['webhooks']) ? found.object['webhooks'] : [];
    if (webhooks.every((webhook) => clientConfigOf(webhook)['caBundle'] === caBundle)) continue;
    wasThere = false;
    const trusting = webhooks.map((webhook) => ({
      ...(isMap(webhook) ? webhook : {}),
      clientConfig: { ...clientConfigOf(webhook), caBundle },
    }));
    const written = await client.update(resource, { ...found.object, webhooks: trusting });
    if (!written.ok && written.because !== 'Conflict') {
      throw new Error(`the caBundle of ${resource.plural} ${CONFIGURATION}: ${written.because}: ${written.message}`);
    }
  }
  return wasThere;
}

function clientConfigOf(webhook: unknown): Readonly<Record<string, unknown>> {
  const config = isMap(webhook) ? webhook['clientConfig'] : undefined;
  return isMap(config) ? config : {};
}
