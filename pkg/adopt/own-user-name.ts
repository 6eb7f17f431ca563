import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type Resource } from '#pkg/kube/objects/kube-object.ts';

const REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
};

/** The user as the API server knows it; the name in a kubeconfig is only a label. By default every user may ask this. */
export async function ownUserName(client: KubeClient): Promise<string> {
  const outcome = await client.review(REVIEWS, {});
  const status = outcome.ok ? outcome.object['status'] : null;
  const user = isMap(status) && isMap(status['userInfo']) ? status['userInfo']['username'] : undefined;
  return typeof user === 'string' ? user : 'an unknown user';
}
