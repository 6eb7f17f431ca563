import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { isMap, type Resource } from '#pkg/kube/objects/kube-object.ts';

export const SERVICE_ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
};
const REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
};
/** The names in Spiderpool's chart. */
export const SPIDERPOOL_ACCOUNTS = ['spiderpool-agent', 'spiderpool-controller'];
const STATUS = { group: 'spiderpool.spidernet.io', resource: 'spiderippools', subresource: 'status', verb: 'update' };
const NOT_SERVED = 'the API server does not say who may do what';

/** The service accounts of Spiderpool that may still write the status of pools, that is give out addresses: `namespace/name`. */
export async function findOldWriters(client: KubeClient): Promise<string[]> {
  const writers: string[] = [];
  for (const account of await findOldAccounts(client, SPIDERPOOL_ACCOUNTS)) {
    const user = `system:serviceaccount:${account.replace('/', ':')}`;
    if (await mayWrite(client, user, STATUS)) writers.push(account);
  }
  return writers;
}

/** The service accounts of these names, in any namespace. The caller needs only the right to list those. */
export async function findOldAccounts(client: KubeClient, names: readonly string[]): Promise<string[]> {
  const accounts: string[] = [];
  for (const name of names) {
    const listed = await client.list(
      SERVICE_ACCOUNTS,
      { fieldSelector: `metadata.name=${name}` },
      { form: 'metadata' },
    );
    if (!listed.ok) throw toApiError(`list service accounts ${name}`, listed, NOT_SERVED);
    accounts.push(...listed.object.items.map(({ metadata }) => `${metadata.namespace ?? ''}/${name}`));
  }
  return accounts;
}

export async function mayWrite(
  client: KubeClient,
  user: string,
  resourceAttributes: Readonly<Record<string, string>>,
): Promise<boolean> {
  const outcome = await client.review(REVIEWS, { spec: { user, resourceAttributes } });
  if (!outcome.ok) throw toApiError(`ask what ${user} may do`, outcome, NOT_SERVED);
  const status = outcome.object['status'];
  return isMap(status) && status['allowed'] === true;
}
