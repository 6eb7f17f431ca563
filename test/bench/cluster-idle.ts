import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addAll } from './cluster-adds.ts';
import { RawClients, readSpecs } from './cluster-raw-clients.ts';
import { ClusterSite, inFlight } from './cluster-site.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { type Line, ms, printTable } from './report.ts';
import { median, spread } from './statistics.ts';

const NODES = ['worker-1', 'worker-2', 'worker-3', 'worker-4'];
const CROWDS = [500, 2_000];
const PER_PROCESS = 500;
const PER_CLIENT = 250;
const BLOCKS = 5;
/** After so many connections at once the server collects its garbage. */
const SETTLE_MS = 10_000;
const REST_MS = 10_000;

interface Stage {
  readonly agents: string;
  readonly rates: readonly number[];
  /** Of kube-apiserver, for one create. */
  readonly cpuMs: readonly number[];
  /** Of one core, while nobody creates anything. */
  readonly restShare: number;
  readonly foreign: number;
}

/** Creates by bare clients while agents that do nothing are connected. Before, between and after: crowds take minutes to make. */
export async function benchIdleAgents(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const models = await writeModels(site);
  using raw = RawClients.start(site.server, site.nodes, models);
  await raw.create(PER_CLIENT);

  const stages = [await measureStage(site, raw, 'none, before')];
  {
    using crowd = new IdleCrowd(site);
    for (const size of CROWDS) {
      await crowd.growTo(size);
      stages.push(await measureStage(site, raw, `${size} idle agents`));
    }
  }
  await sleep(SETTLE_MS);
  stages.push(await measureStage(site, raw, 'none, afterwards'));
  const [before, ...crowded] = stages;
  const after = crowded.pop();
  const without = [...(before?.rates ?? []), ...(after?.rates ?? [])];
  printTable('Creates by 4 bare clients while idle agents are connected, next to those before and after', [
    ...[before, after]
      .filter((stage) => stage !== undefined)
      .map((stage) => ({ what: stage.agents, value: show(stage) })),
    ...crowded.map((stage) => describe(stage, without)),
  ]);
}

function describe(stage: Stage, without: readonly number[]): Line {
  const ratio = median(stage.rates) / median(without);
  const against = `${ratio.toFixed(2)} × without`;
  return { what: stage.agents, value: show(stage), against, limit: 'at least 0.90 ×', isMet: ratio >= 0.9 };
}

function show({ rates, cpuMs, restShare, foreign }: Stage): string {
  const rate = `${median(rates).toFixed(0)}/s ± ${percent(spread(rates))}`;
  const cpu = `API server ${ms(median(cpuMs))} CPU each, ${percent(restShare)} of a core at rest`;
  return `${rate}; ${cpu}; ${percent(foreign)} foreign CPU`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

async function measureStage(site: ClusterSite, raw: RawClients, agents: string): Promise<Stage> {
  const atRestMs = readCpuMs(site.server.pid());
  await sleep(REST_MS);
  const restShare = (readCpuMs(site.server.pid()) - atRestMs) / REST_MS;
  const mark = markCpu();
  const rates: number[] = [];
  const cpuMs: number[] = [];
  for (let block = 0; block < BLOCKS; block += 1) {
    const before = readCpuMs(site.server.pid());
    const { seconds, latenciesMs } = await raw.create(PER_CLIENT);
    rates.push(latenciesMs.length / seconds);
    cpuMs.push((readCpuMs(site.server.pid()) - before) / latenciesMs.length);
  }
  return { agents, rates, cpuMs, restShare, foreign: foreignShare(mark) };
}

/** One record of each node's agent, and no agent left. */
async function writeModels(site: ClusterSite) {
  for (const node of site.nodes) {
    await using agent = await site.startAgent(node);
    await addAll([agent], await site.createPods([node.name], 1), 'bench');
  }
  return await readSpecs(site);
}

class IdleCrowd implements Disposable {
  readonly #site: ClusterSite;
  readonly #processes: ChildProcess[] = [];

  constructor(site: ClusterSite) {
    this.#site = site;
  }

  async growTo(size: number): Promise<void> {
    for (let from = this.#processes.length * PER_PROCESS; from < size; from += PER_PROCESS) await this.#add(from);
    await sleep(SETTLE_MS);
  }

  async #add(from: number): Promise<void> {
    const names = Array.from({ length: PER_PROCESS }, (_, at) => `idle-${from + at}`);
    await inFlight(names, 16, (name) => this.#site.create('/api/v1/nodes', { metadata: { name } }));
    const [{ kubeconfigFile = '' } = {}] = this.#site.nodes;
    const program = join(import.meta.dirname, 'cluster-idle-agents.ts');
    const child = fork(program, [kubeconfigFile, `${from}`, `${PER_PROCESS}`]);
    this.#processes.push(child);
    const gone = new AbortController();
    child.once('exit', () => gone.abort(new Error('the idle agents ended')));
    await once(child, 'message', { signal: gone.signal });
  }

  [Symbol.dispose](): void {
    for (const child of this.#processes) if (child.connected) child.disconnect();
  }
}

function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}
