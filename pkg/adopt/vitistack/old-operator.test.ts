import { expect, test } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import type { Script } from '#test/support/scripted-server.ts';
import { findRunningOperators } from './old-operator.ts';

interface OldCluster {
  readonly serviceaccounts?: readonly object[];
  readonly deployments?: readonly object[];
  readonly pods?: readonly object[];
  /** `namespace:name` of those that may write. */
  readonly mayWrite: readonly string[];
}

const meta = (name: string) => ({ namespace: 'vitistack', name, uid: `uid-of-${name}`, resourceVersion: '1' });
const account = (name: string) => ({ metadata: meta(name) });
const deployment = (replicas: number, running = replicas, serviceAccountName: string | undefined = 'sa') => ({
  metadata: meta('static-ip-operator'),
  spec: { replicas, template: { spec: { serviceAccountName } } },
  status: { replicas: running },
});
const pod = (serviceAccountName: string) => ({ metadata: meta('old-pod'), spec: { serviceAccountName } });

function answering({ mayWrite, ...lists }: OldCluster): Script {
  return ({ path, method, body, answer }) => {
    if (method === 'POST') {
      const { user, resourceAttributes } = (JSON.parse(body) as { spec: { user: string; resourceAttributes: object } })
        .spec;
      expect(resourceAttributes).toMatchObject({ resource: 'networkconfigurations', subresource: 'status' });
      const allowed = mayWrite.some((it) => user === `system:serviceaccount:${it}`);
      return answer(201, { status: { allowed } });
    }
    const plural = (path.split('?')[0] ?? '').split('/').at(-1) as keyof typeof lists;
    return answer(200, { kind: 'List', metadata: { resourceVersion: '1' }, items: lists[plural] ?? [] });
  };
}

test.each<{ name: string; cluster: OldCluster; running: string[] }>([
  { name: 'nothing is installed', cluster: { mayWrite: [] }, running: [] },
  {
    name: 'a Deployment with replicas, whatever its account is called',
    cluster: { deployments: [deployment(1)], mayWrite: ['vitistack:sa'] },
    running: ['vitistack/sa'],
  },
  {
    name: 'a Deployment whose account has lost the right',
    cluster: { deployments: [deployment(1)], mayWrite: [] },
    running: [],
  },
  {
    name: 'a Deployment that is off',
    cluster: { deployments: [deployment(0)], mayWrite: ['vitistack:sa'] },
    running: [],
  },
  {
    name: 'a Deployment scaled to 0 whose replicas still run',
    cluster: { deployments: [deployment(0, 1)], mayWrite: ['vitistack:sa'] },
    running: ['vitistack/sa'],
  },
  {
    name: 'a Deployment that is off, and a pod that is still ending',
    cluster: { deployments: [deployment(0)], pods: [pod('sa')], mayWrite: ['vitistack:sa'] },
    running: ['vitistack/sa'],
  },
  {
    name: 'an account without a Deployment: nobody can say what runs with it',
    cluster: { serviceaccounts: [account('static-ip-operator')], mayWrite: ['vitistack:static-ip-operator'] },
    running: ['vitistack/static-ip-operator'],
  },
  {
    name: 'a Deployment without an account of its own',
    cluster: {
      deployments: [{ ...deployment(1), spec: { replicas: 1, template: {} } }],
      mayWrite: ['vitistack:default'],
    },
    running: ['vitistack/default'],
  },
])('$name', async ({ cluster, running }) => {
  await using scripted = await startScripted(answering(cluster));
  expect(await findRunningOperators(scripted.client)).toEqual(running);
});
