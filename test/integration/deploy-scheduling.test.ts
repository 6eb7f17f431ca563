import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { callApi } from '#test/support/api-request.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';

const server = useSharedServer();

interface Workload {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly metadata: object; readonly spec: object };
    readonly updateStrategy?: { readonly rollingUpdate: { readonly maxUnavailable: number | string } };
  };
}

interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

function workloadOf(file: 'agent' | 'controller'): Workload {
  const text = readFileSync(join(import.meta.dirname, `../../deploy/${file}.yaml`), 'utf8');
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Workload);
  return documents.find(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment') as Workload;
}

/** The tolerations of a pod as the API server stores it, with those that it adds itself. */
async function tolerationsOf(file: 'agent' | 'controller'): Promise<readonly Toleration[]> {
  const { metadata, spec } = workloadOf(file).spec.template;
  const path = '/api/v1/namespaces/ipledger/pods?dryRun=All';
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: `${file}-x` }, spec };
  const created = await callApi(server, { method: 'POST', path, body, token: server.adminToken });
  expect(created.status).toBe(201);
  return (created.body as { spec: { tolerations: readonly Toleration[] } }).spec.tolerations;
}

/** How long a pod with these tolerations stays on a node with the taint, in seconds; null if it is not tolerated. */
function staysFor(taint: string, tolerations: readonly Toleration[]): number | null {
  const [key, effect] = taint.split(':');
  const matching = tolerations.filter(
    (it) =>
      (it.key === undefined || it.key === key) &&
      (it.effect === undefined || it.effect === effect) &&
      (it.operator === 'Exists' || (it.value ?? '') === ''),
  );
  if (matching.length === 0) return null;
  return Math.min(...matching.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds));
}

/** The taints of a node whose runtime says that its network is not ready: STATUS of the plugin fails. */
const WITHOUT_NETWORK = [
  'node.kubernetes.io/not-ready:NoSchedule',
  'node.kubernetes.io/not-ready:NoExecute',
  'node.kubernetes.io/network-unavailable:NoSchedule',
];
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane:NoSchedule';

describe('the agent', () => {
  test.each([
    ...WITHOUT_NETWORK,
    CONTROL_PLANE,
    'node.kubernetes.io/unreachable:NoExecute',
    'node.kubernetes.io/unschedulable:NoSchedule',
    'node.kubernetes.io/disk-pressure:NoSchedule',
    'example.com/dedicated:NoExecute',
  ])('stays for good on a node with the taint %s', async (taint) => {
    expect(staysFor(taint, await tolerationsOf('agent'))).toBe(Number.POSITIVE_INFINITY);
  });

  test('is replaced on a share of the nodes at a time', () => {
    const { maxUnavailable } = workloadOf('agent').spec.updateStrategy?.rollingUpdate ?? {};
    expect(maxUnavailable).toBe('5%');
  });
});

describe('the controller', () => {
  // Where agents serve eth0, no node is Ready before the controller has written the marker of the adoption.
  test.each([...WITHOUT_NETWORK, CONTROL_PLANE])('starts on a node with the taint %s', async (taint) => {
    expect(staysFor(taint, await tolerationsOf('controller'))).toBeGreaterThanOrEqual(300);
  });

  test.each(['node.kubernetes.io/not-ready:NoExecute', 'node.kubernetes.io/unreachable:NoExecute'])(
    'moves away in the end from a node with the taint %s',
    async (taint) => expect(staysFor(taint, await tolerationsOf('controller'))).toBeLessThanOrEqual(600),
  );

  test.each([
    'node.kubernetes.io/unschedulable:NoSchedule',
    'node.kubernetes.io/out-of-service:NoExecute',
    'node.kubernetes.io/disk-pressure:NoSchedule',
    'example.com/dedicated:NoSchedule',
  ])('is not put on a node with the taint %s', async (taint) => {
    expect(staysFor(taint, await tolerationsOf('controller'))).toBeNull();
  });
});
