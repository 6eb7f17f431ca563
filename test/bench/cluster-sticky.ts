import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { holderKey } from '#pkg/record/ip-record.ts';
import { holderLabel } from '#pkg/record/record-metadata.ts';
import type { ClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { addOne } from './cluster-adds.ts';
import { type BenchPod, ClusterSite, inFlight } from './cluster-site.ts';
import { createRecords } from './controller-site.ts';
import { BareClient } from './kube-subject.ts';
import { readCpuMs } from './process-cpu.ts';
import { printTable } from './report.ts';
import { Client } from './socket-load.ts';
import { median, spread } from './statistics.ts';

const NODE = 'worker-1';
const RECORDS = 20_000;
const WAITING = 200;
const BLOCKS = 5;
const WAIT_MS = 10_000;
const CALLS = { timeoutMs: 60_000, atOnce: 32 };
/** The old way is played by a twentieth of the calls for half of the time: all of them would need eight cores. */
const OLD = { calls: 10, forMs: 5_000, everyMs: 500 };
const LIMIT = 0.1;
const PODS = '/api/v1/namespaces/default/pods';
const SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const BY_HOLDER = '/apis/ipledger.io/v1alpha1/iprecords?labelSelector=ipledger.io%2Fholder%3D';

/**
 * 200 pods of a StatefulSet, whose pods before them are on a dead node, wait for their addresses among 20,000 records. Next to it
 * the way of earlier agents: a list by the label of the holder twice a second for each of them.
 */
export async function benchStickyWaiters(): Promise<void> {
  await using site = await ClusterSite.start([NODE]);
  await site.createPool('bench', '10.1.0.0-10.200.255.255');
  const pods = await createSet(site);
  for (const net of [10, 11]) {
    const others = Array.from({ length: RECORDS / 2 }, (_, at) => ({ name: `other-${net}-${at}`, uid: randomUUID() }));
    await createRecords(site, { net, node: 'worker-elsewhere', pool: 'bench' }, others);
  }
  const [agent] = await site.startAgents();
  if (agent === undefined) throw new Error('a site without agents');
  using reader = await BareClient.open(site.server, site.nodes[0]?.token ?? '');
  const measured = await measureInBlocks(
    {
      old: async () => [(await cpuOf(site, () => pollByLabel(reader, pods.slice(0, OLD.calls)))) * oldScale()],
      now: async () => [await cpuOf(site, () => waitAll(agent, pods))],
    },
    BLOCKS,
  );
  const column = (name: 'old' | 'now') => measured.values[name].map(([value = Number.NaN]) => value);
  const ratios = column('now').map((value, block) => value / (column('old')[block] ?? Number.NaN));
  const seconds = (values: readonly number[]) => `${(median(values) / 1_000).toFixed(1)} s`;
  printTable(`${WAITING} sticky ADDs wait ${WAIT_MS / 1_000} s among ${RECORDS} records (${noteNoise(measured)})`, [
    {
      what: 'CPU of the API server',
      value: `${seconds(column('now'))}; lists twice a second ${seconds(column('old'))}`,
      against: `${median(ratios).toFixed(3)} × ± ${(spread(ratios) * 100).toFixed(0)} %`,
      limit: `at most ${LIMIT.toFixed(2)} ×`,
      isMet: median(ratios) <= LIMIT,
    },
  ]);
}

const oldScale = () => (WAITING / OLD.calls) * (WAIT_MS / OLD.forMs);

/** Beyond what the server needs at rest. */
async function cpuOf({ server }: ClusterSite, work: () => Promise<void>): Promise<number> {
  const restMs = 3_000;
  const atRest = readCpuMs(server.pid());
  await sleep(restMs);
  const before = readCpuMs(server.pid());
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  return readCpuMs(server.pid()) - before - ((before - atRest) / restMs) * tookMs;
}

async function createSet(site: ClusterSite): Promise<BenchPod[]> {
  type Made = { readonly metadata: { readonly uid: string } };
  const labels = { app: 'db' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const spec = { serviceName: 'db', replicas: WAITING, selector: { matchLabels: labels }, template };
  const set = await site.create<Made>(SETS, { metadata: { name: 'db' }, spec });
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: set.metadata.uid };
  const names = Array.from({ length: WAITING }, (_, at) => `db-${at}`);
  const dead = names.map((name) => ({ name, uid: randomUUID() }));
  await createRecords(site, { net: 1, node: 'worker-dead', pool: 'bench', owner }, dead);
  const pods: BenchPod[] = [];
  await inFlight(names, CALLS.atOnce, async (name) => {
    const metadata = { name, labels, ownerReferences: [{ ...owner, controller: true }] };
    const containers = [{ name: 'main', image: 'main' }];
    const pod = await site.create<Made>(PODS, { metadata, spec: { nodeName: NODE, containers } });
    pods.push({ name, uid: pod.metadata.uid });
  });
  return pods;
}

/** Every call fails when it has waited, because nobody ends the pod before. */
async function waitAll(agent: ClusterAgentProcess, pods: readonly BenchPod[]): Promise<void> {
  const client = new Client(agent.socket);
  const outcomes = await Promise.allSettled(pods.map((pod) => addOne(client, pod, 'bench', CALLS.timeoutMs)));
  client.close();
  const held = outcomes.filter((it) => it.status === 'rejected' && String(it.reason).includes('is still held by'));
  if (held.length !== pods.length) throw new Error(`${pods.length - held.length} calls did not wait: ${outcomes[0]}`);
}

async function pollByLabel(reader: BareClient, pods: readonly BenchPod[]): Promise<void> {
  const untilMs = performance.now() + OLD.forMs;
  await inFlight(pods, pods.length, async ({ name }) => {
    const key = holderKey({ kind: 'Pod', namespace: 'default', name, interface: 'eth0' }, 4);
    for (let dueMs = performance.now(); dueMs < untilMs; dueMs += OLD.everyMs) {
      await sleep(Math.max(0, dueMs - performance.now()));
      const answer = await reader.send('GET', `${BY_HOLDER}${holderLabel(key)}`, { accept: 'application/json' });
      const { items } = JSON.parse(answer.toString());
      if (items?.length !== 1) throw new Error(`no record of ${name} was listed: ${answer}`);
    }
  });
}
