import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { isMap, type Resource } from '#pkg/kube/objects/kube-object.ts';

const ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount' };
const REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
};
/** The names in Spiderpool's chart. */
const NAMES = ['spiderpool-agent', 'spiderpool-controller'];
const STATUS = { group: 'spiderpool.spidernet.io', resource: 'spiderippools', subresource: 'status', verb: 'update' };
const NOT_SERVED = 'the API server does not say who may do what';

/** The service accounts of Spiderpool that may still write the status of pools, that is give out addresses: `namespace/name`. */
export async function findOldWriters(client: KubeClient): Promise<string[]> {
  const writers: string[] = [];
  for (const account of await findOldAccounts(client)) {
    const user = `system:serviceaccount:${account.replace('/', ':')}`;
    if (await mayWrite(client, user)) writers.push(account);
  }
  return writers;
}

/** All service accounts of Spiderpool. The caller needs only the right to list service accounts of these two names. */
export async function findOldAccounts(client: KubeClient): Promise<string[]> {
  const accounts: string[] = [];
  for (const name of NAMES) {
    const listed = await client.list(ACCOUNTS, { fieldSelector: `metadata.name=${name}` }, { form: 'metadata' });
    if (!listed.ok) throw toApiError(`list service accounts ${name}`, listed, NOT_SERVED);
    accounts.push(...listed.object.items.map(({ metadata }) => `${metadata.namespace ?? ''}/${name}`));
  }
  return accounts;
}

async function mayWrite(client: KubeClient, user: string): Promise<boolean> {
  const outcome = await client.review(REVIEWS, { spec: { user, resourceAttributes: STATUS } });
  if (!outcome.ok) throw toApiError(`ask what ${user} may do`, outcome, NOT_SERVED);
  const status = outcome.object['status'];
  return isMap(status) && status['allowed'] === true;
}
