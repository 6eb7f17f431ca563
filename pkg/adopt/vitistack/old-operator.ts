import { mayWrite, SERVICE_ACCOUNTS } from '#pkg/adopt/old-writers.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { PODS } from '#pkg/kube/objects/core-resources.ts';
import { isMap, type KubeObject, type ListQuery, type Resource } from '#pkg/kube/objects/kube-object.ts';

const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };
/** In its chart: the name of Deployment and account, unless the release is called otherwise, and a label in any case. */
export const OPERATOR_NAME = 'static-ip-operator';
const BY_NAME: ListQuery = { fieldSelector: `metadata.name=${OPERATOR_NAME}` };
const BY_LABEL: ListQuery = { labelSelector: `app.kubernetes.io/name=${OPERATOR_NAME}` };
/** Giving out an address is writing this. */
const GIVES_OUT = { group: 'vitistack.io', resource: 'networkconfigurations', subresource: 'status', verb: 'update' };

/**
 * The service accounts that static-ip-operator may still write with: the account has the right, and something may run with it. A
 * Deployment without replicas and without pods is off.
 */
export async function findRunningOperators(client: KubeClient): Promise<string[]> {
  const deployments = await listBoth(client, DEPLOYMENTS);
  const pods = await list(client, PODS, BY_LABEL);
  const accounts = new Map<string, readonly KubeObject[]>();
  for (const { metadata } of await listBoth(client, SERVICE_ACCOUNTS)) {
    accounts.set(`${metadata.namespace}/${metadata.name}`, []);
  }
  for (const it of deployments) accounts.set(accountOf(it, ['spec', 'template', 'spec']), []);
  for (const it of deployments) {
    const account = accountOf(it, ['spec', 'template', 'spec']);
    accounts.set(account, [...(accounts.get(account) ?? []), it]);
  }
  for (const it of pods) if (!accounts.has(accountOf(it, ['spec']))) accounts.set(accountOf(it, ['spec']), []);
  const running: string[] = [];
  for (const [account, own] of accounts) {
    const isRunning = own.some((it) => !isOff(it)) || pods.some((it) => accountOf(it, ['spec']) === account);
    const isOffForSure = own.length > 0 && !isRunning;
    const user = `system:serviceaccount:${account.replace('/', ':')}`;
    if (!isOffForSure && (await mayWrite(client, user, GIVES_OUT))) running.push(account);
  }
  return running.sort();
}

function isOff(deployment: KubeObject): boolean {
  const replicas = fieldAt(deployment, ['spec', 'replicas']);
  const running = fieldAt(deployment, ['status', 'replicas']);
  return replicas === 0 && (running === undefined || running === 0);
}

function accountOf(object: KubeObject, path: readonly string[]): string {
  const name = fieldAt(object, [...path, 'serviceAccountName']);
  return `${object.metadata.namespace ?? ''}/${typeof name === 'string' && name !== '' ? name : 'default'}`;
}

function fieldAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, field) => (isMap(value) ? value[field] : undefined), object);
}

async function listBoth(client: KubeClient, resource: Resource): Promise<readonly KubeObject[]> {
  const found = [...(await list(client, resource, BY_NAME)), ...(await list(client, resource, BY_LABEL))];
  return [...new Map(found.map((it) => [it.metadata.uid, it])).values()];
}

async function list(client: KubeClient, resource: Resource, query: ListQuery): Promise<readonly KubeObject[]> {
  const listed = await client.list(resource, query);
  if (!listed.ok)
    throw toApiError(`list ${resource.plural} of ${OPERATOR_NAME}`, listed, 'the API server does not serve them');
  return listed.object.items;
}
