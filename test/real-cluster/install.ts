import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import { CHART, CRD_CHART, mustHelm } from '#test/support/helm.ts';
import { kubectl } from '#test/support/manifests.ts';
import { HOST_LOCAL, TWO_NICS } from './cni-config.ts';

const NAMESPACE = '--namespace=ipledger';
const LIMIT = '--timeout=300s';

/** Where the charts of a build are, and which image it is. */
export interface Charts {
  readonly chart: string;
  readonly crds: string;
  /** Unless it is that of the chart. */
  readonly tag?: string;
  readonly asSpiderpool?: 'always';
}

export const SHIPPED: Charts = { chart: CHART, crds: CRD_CHART };

/** As the page for operators says it (docs/cluster.md), from the charts that are shipped. */
export async function installIpledger(place: ServerPlace, nodeCount: number, charts = SHIPPED): Promise<void> {
  await mustHelm(place, 'install', 'ipledger-crds', charts.crds, '--create-namespace');
  await renewChart(place, nodeCount, charts);
  await untilRolledOut(place);
  for (const { name } of [TWO_NICS, HOST_LOCAL]) await createRuntimeClass(place, name);
  await kubectl(place, ['wait', '--for=condition=Ready', 'node', '--all', LIMIT]);
}

/** Whether it is installed or not; returns without waiting for the daemons. */
export async function renewChart(place: ServerPlace, nodeCount: number, charts = SHIPPED): Promise<void> {
  const file = join(place.dir, 'values.json');
  await writeFile(file, JSON.stringify({ ...valuesFor(nodeCount), ...choices(charts) }));
  await mustHelm(place, 'upgrade', '--install', 'ipledger', charts.chart, `--values=${file}`);
}

/** Agents and controllers are ready, and pools can be created. */
export async function untilRolledOut(place: ServerPlace): Promise<void> {
  for (const workload of ['deployment/ipledger-controller', 'daemonset/ipledger-agent'])
    await kubectl(place, ['rollout', 'status', workload, NAMESPACE, LIMIT]);
  const webhooks = ['mutatingwebhookconfiguration/ipledger', 'validatingwebhookconfiguration/ipledger'];
  await kubectl(place, ['wait', '--for=jsonpath={.webhooks[0].clientConfig.caBundle}', LIMIT, ...webhooks]);
}

const choices = ({ tag, asSpiderpool }: Charts) => ({
  ...(tag === undefined ? {} : { image: { tag } }),
  ...(asSpiderpool === undefined ? {} : { plugin: { asSpiderpool } }),
});

const valuesFor = (nodeCount: number) => ({
  // What waits a minute in production waits ten seconds here.
  ipam: { gc: { gcAll: { intervalInSecond: 60 } } },
  spiderpoolController: {
    extraEnv: [{ name: 'IPLEDGER_GC_SETTLE_DURATION', value: '10' }],
    // Two replicas need two nodes, because they use ports of the host.
    replicas: Math.min(nodeCount, 2),
  },
});

async function createRuntimeClass(place: ServerPlace, name: string): Promise<void> {
  const body = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: name };
  const path = '/apis/node.k8s.io/v1/runtimeclasses';
  const { status } = await callApi(place, { method: 'POST', path, token: place.adminToken, body });
  if (status !== 201) throw new Error(`POST ${path}: ${status}`);
}
