import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Monitor, RULE_GROUPS } from '#test/house/monitors.ts';
import { callApi } from '#test/support/api-request.ts';
import { findDebianPrograms } from '#test/support/debian-programs.ts';
import { mustRun } from '#test/support/run-program.ts';
import type { ReachedCluster } from './cluster-place.ts';

/** A real Prometheus beside the control plane. It finds the daemons by our monitors, and evaluates our alerts. */
export interface Prometheus extends AsyncDisposable {
  /** The field `data` of each answer of its API, for paths like `query?query=up`. */
  ask(...paths: readonly string[]): Promise<readonly unknown[]>;
}

const PORT = 9090;
const READY_TIMEOUT_MS = 60_000;
/** Prints one answer a line. Node is there anyway; curl may not be. */
const FETCH = `for (const url of process.argv.slice(1)) console.log(JSON.stringify(await (await fetch(url)).json()));`;

export async function startPrometheus(cluster: ReachedCluster, monitors: readonly Monitor[]): Promise<Prometheus> {
  const prometheus = join(await findDebianPrograms(), 'prometheus');
  await using stack = new AsyncDisposableStack();
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-prometheus-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.json'],
    scrape_configs: (await Promise.all(monitors.map((monitor) => scrapeConfigs(cluster, monitor)))).flat(),
  };
  await writeFile(join(dir, 'prometheus.json'), JSON.stringify(config));
  await writeFile(join(dir, 'rules.json'), JSON.stringify({ groups: RULE_GROUPS }));
  const beside = await cluster.besideControlPlane();
  const flags = [`--config.file=${dir}/prometheus.json`, `--storage.tsdb.path=${dir}/data`, '--log.level=warn'];
  await using log = await open(join(dir, 'log'), 'a');
  const words = ['--pdeathsig', 'KILL', ...beside, prometheus, ...flags, `--web.listen-address=127.0.0.1:${PORT}`];
  const child = spawn('setpriv', words, { detached: true, stdio: ['ignore', log.fd, log.fd] });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  stack.defer(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const ask = async (...paths: readonly string[]) => {
    const [nsenter = '', ...inside] = beside;
    const urls = paths.map((path) => `http://127.0.0.1:${PORT}/api/v1/${path}`);
    const said = await mustRun(nsenter, ...inside, process.execPath, '--input-type=module', '--eval', FETCH, ...urls);
    return said.trim().split('\n').map(dataOf);
  };
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while ((await ask('status/buildinfo').catch(() => null)) === null) {
    const said = await readFile(join(dir, 'log'), 'utf8');
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`Prometheus does not answer: ${said}`);
    await sleep(200);
  }
  const everything = stack.move();
  return { ask, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

function dataOf(line: string): unknown {
  const { status, data } = JSON.parse(line);
  if (status !== 'success') throw new Error(line);
  return data;
}

/** What the Prometheus operator makes of a PodMonitor. */
async function scrapeConfigs({ server }: ReachedCluster, { metadata, spec }: Monitor): Promise<object[]> {
  const { name, namespace } = metadata;
  const keep = (label: string, regex: string) => ({ source_labels: [label], regex, action: 'keep' });
  const copy = (label: string, to: string) => ({ source_labels: [label], target_label: to });
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const { items } = (await callApi(server, { path, token: server.adminToken })).body as { items: TargetPod[] };
  const static_configs = items.flatMap(discover);
  return spec.podMetricsEndpoints.map(({ port, relabelings }, index) => ({
    job_name: `podMonitor/${namespace}/${name}/${index}`,
    static_configs,
    relabel_configs: [
      ...Object.entries(spec.selector.matchLabels).map(([label, value]) => keep(metaLabel(label), value)),
      keep('__meta_kubernetes_pod_container_port_name', port),
      copy('__meta_kubernetes_namespace', 'namespace'),
      copy('__meta_kubernetes_pod_container_name', 'container'),
      copy('__meta_kubernetes_pod_name', 'pod'),
      { target_label: 'job', replacement: `${namespace}/${name}` },
      ...relabelings.map(({ sourceLabels, targetLabel, replacement }) => ({
        target_label: targetLabel,
        ...(sourceLabels === undefined ? {} : { source_labels: sourceLabels }),
        ...(replacement === undefined ? {} : { replacement }),
      })),
    ],
  }));
}

interface TargetPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName: string;
    readonly containers: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
    }[];
  };
  readonly status: { readonly podIP?: string };
}

const metaLabel = (label: string) => `__meta_kubernetes_pod_label_${label.replaceAll(/\W/g, '_')}`;

/** What Prometheus finds itself in a cluster: a target for each port of each pod. Debian's is built without that part. */
function discover({ metadata, spec, status }: TargetPod): object[] {
  const labels = Object.entries(metadata.labels).map(([label, value]) => [metaLabel(label), value] as const);
  return spec.containers.flatMap(({ name, ports = [] }) =>
    ports.map((port) => ({
      targets: [`${status.podIP}:${port.containerPort}`],
      labels: {
        ...Object.fromEntries(labels),
        __meta_kubernetes_namespace: metadata.namespace,
        __meta_kubernetes_pod_name: metadata.name,
        __meta_kubernetes_pod_node_name: spec.nodeName,
        __meta_kubernetes_pod_container_name: name,
        __meta_kubernetes_pod_container_port_name: port.name,
      },
    })),
  );
}
