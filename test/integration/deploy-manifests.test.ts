import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readAgentEnv } from '#agent/compose/agent-env.ts';
import { readControllerEnv } from '#controller/controller-env.ts';
import { decodeClusterConfig } from '#pkg/config/decode-cluster-config.ts';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
/** In the order in which an operator applies them. */
const IN_ORDER = [
  'crds',
  'admission-policy.yaml',
  'rbac.yaml',
  'flow-control.yaml',
  'rbac-cluster-api.yaml',
  'rbac-support.yaml',
  'rbac-vitistack-import.yaml',
  'vitistack-crds',
  'rbac-vitistack.yaml',
  'config.yaml',
  'controller.yaml',
  'webhook.yaml',
  'agent.yaml',
];
/** Kinds of the Prometheus operator, which is not here; test/house/observability.test.ts and monitoring.test.ts read them. */
const FOREIGN_KINDS = ['alerts.yaml', 'monitoring.yaml'];

let server: ApiServer;

beforeAll(async () => {
  server = await startApiServer();
  await applyManifests(server, ...IN_ORDER);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Probe {
  readonly httpGet: { readonly host?: string; readonly port: string; readonly path: string };
}

interface Container {
  readonly startupProbe?: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly mountPropagation?: string;
  }[];
  readonly securityContext: { readonly capabilities: { readonly drop: string[]; readonly add?: string[] } };
}

interface DaemonSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly hostNetwork: boolean;
        readonly hostPID?: boolean;
        readonly containers: readonly [Container];
        readonly initContainers: readonly [Container];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

type Labels = Readonly<Record<string, string>>;

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly rollingUpdate: object };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly hostNetwork?: boolean;
        readonly serviceAccountName: string;
        readonly securityContext: { readonly runAsNonRoot: boolean };
        readonly containers: readonly [
          Container & {
            readonly command: readonly string[];
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
            readonly securityContext: {
              readonly allowPrivilegeEscalation: boolean;
              readonly readOnlyRootFilesystem: boolean;
            };
          },
        ];
      };
    };
  };
}

async function read<T>(path: string): Promise<T> {
  const { status, body } = await callApi(server, { path, token: server.adminToken });
  expect(status).toBe(200);
  return body as T;
}

const readDaemonSet = () => read<DaemonSet>('/apis/apps/v1/namespaces/ipledger/daemonsets/ipledger-agent');

const readDeployment = () => read<Deployment>('/apis/apps/v1/namespaces/ipledger/deployments/ipledger-controller');

test('every file of deploy/ is applied here', async () => {
  const files = (await readdir(DEPLOY)).filter(
    (name) => name === 'crds' || name === 'vitistack-crds' || name.endsWith('.yaml'),
  );
  expect(files.toSorted()).toEqual([...IN_ORDER, ...FOREIGN_KINDS].toSorted());
});

test('the API server knows every field of every file, and applying them again changes nothing', async () => {
  const files = IN_ORDER.map((path) => `--filename=${join(DEPLOY, path)}`);
  const said = await kubectl(server, ['apply', '--dry-run=server', '--validate=strict', ...files]);
  const outcomes = said.split('\n').flatMap((line) => / (created|configured|unchanged) /.exec(line)?.[1] ?? []);
  expect(outcomes.length).toBeGreaterThan(15);
  expect(outcomes).not.toContain('created');
});

test('the shipped settings are read without a warning', async () => {
  const { data } = await read<{ data: Record<string, string> }>(
    '/api/v1/namespaces/ipledger/configmaps/spiderpool-conf',
  );
  const { warnings } = decodeClusterConfig(parse(data['conf.yml'] ?? ''));
  expect([Object.keys(data), warnings]).toEqual([['conf.yml'], []]);
});

test('the agent starts with the environment of its manifest', async () => {
  const { template } = (await readDaemonSet()).spec;
  const env = Object.fromEntries(
    template.spec.containers[0].env.map(({ name, value }) => [name, value ?? 'from-kubelet']),
  );
  expect(readAgentEnv(env)).toMatchObject({ env: { healthPort: 5710, metricPort: 5711 }, warnings: [] });
});

test('kubelet asks where health listens, which is not an address that strangers reach', async () => {
  const [agent] = (await readDaemonSet()).spec.template.spec.containers;
  const [controller] = (await readDeployment()).spec.template.spec.containers;
  for (const { env, startupProbe, livenessProbe, readinessProbe } of [agent, controller]) {
    const host = env.find(({ name }) => name === 'IPLEDGER_HEALTH_HOST')?.value;
    expect(host).toBe('127.0.0.1');
    const probes = [startupProbe, livenessProbe, readinessProbe].filter((probe) => probe !== undefined);
    for (const { httpGet } of probes) expect(httpGet).toMatchObject({ host, port: 'health' });
  }
});

test('the agent has the rights on its host that it needs, and no more', async () => {
  const { spec } = (await readDaemonSet()).spec.template;
  const [agent] = spec.containers;
  const [installer] = spec.initContainers;
  expect([spec.hostNetwork, spec.hostPID]).toEqual([true, true]);
  const add = ['SYS_ADMIN', 'NET_RAW', 'NET_ADMIN', 'SYS_PTRACE'];
  expect(agent.securityContext.capabilities).toEqual({ drop: ['ALL'], add });
  expect(agent.volumeMounts.find(({ name }) => name === 'machine-id')).toMatchObject({
    mountPath: '/etc/machine-id',
    readOnly: true,
  });
  expect(installer.securityContext.capabilities).toEqual({ drop: ['ALL'], add: ['DAC_OVERRIDE'] });
  expect(agent.volumeMounts.some(({ name }) => name === 'cni-bin')).toBe(false);
  const namespaces = agent.volumeMounts.filter(({ mountPath }) => mountPath.endsWith('/netns'));
  expect(namespaces.map(({ mountPropagation }) => mountPropagation)).toEqual(['HostToContainer', 'HostToContainer']);
});

test('the controller starts with the environment and the ports of its manifest', async () => {
  const [controller] = (await readDeployment()).spec.template.spec.containers;
  const env = Object.fromEntries(controller.env.map(({ name, value }) => [name, value ?? 'from-kubelet']));
  expect(readControllerEnv(env)).toMatchObject({
    env: { healthPort: 5720, metricsPort: 5721, webhookPort: 5722 },
    warnings: [],
  });
  const ports = controller.ports.map(({ name, containerPort }) => `${name} ${containerPort}`);
  expect(ports).toEqual(['health 5720', 'metrics 5721', 'webhook 5722']);
});

test('the controller has two replicas that need no address of their own, and no rights on their hosts but its network', async () => {
  const { replicas, strategy, template } = (await readDeployment()).spec;
  const { hostNetwork, serviceAccountName, securityContext, containers } = template.spec;
  expect([replicas, hostNetwork, serviceAccountName]).toEqual([2, true, 'ipledger-controller']);
  expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 1, maxSurge: 0 }); // two pods cannot use the same ports of a node
  expect(securityContext).toMatchObject({ runAsNonRoot: true });
  expect(containers[0].securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
});

test('webhook, metrics and disruption budget find the pods of the controller', async () => {
  const { labels } = (await readDeployment()).spec.template.metadata;
  const service = (name: string) =>
    read<{ spec: { selector: Labels } }>(`/api/v1/namespaces/ipledger/services/${name}`);
  const budget = read<{ spec: { selector: { matchLabels: Labels } } }>(
    '/apis/policy/v1/namespaces/ipledger/poddisruptionbudgets/ipledger-controller',
  );
  const selectors = [
    (await service('ipledger-controller')).spec.selector,
    (await service('ipledger-controller-metrics')).spec.selector,
    (await budget).spec.selector.matchLabels,
  ];
  for (const selector of selectors) expect(labels).toMatchObject(selector);
  const { spec } = await read<{ spec: { selector: { matchLabels: Labels } } }>(
    '/apis/apps/v1/namespaces/ipledger/daemonsets/ipledger-agent',
  );
  for (const selector of selectors) expect(spec.selector.matchLabels).not.toMatchObject(selector);
});
