import { setTimeout as sleep } from 'node:timers/promises';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { addAll } from './cluster-adds.ts';
import { IdleCrowd } from './cluster-idle-crowd.ts';
import { RawClients, readSpecs } from './cluster-raw-clients.ts';
import { ClusterSite } from './cluster-site.ts';
import { readCpuMs } from './process-cpu.ts';
import { type Line, ms, printTable } from './report.ts';
import { median, spread } from './statistics.ts';

const NODES = ['worker-1', 'worker-2', 'worker-3', 'worker-4'];
/** With 0 agents both sites are the same: the distance of their ratio from 1 is the error of the other ratios. */
const CROWDS = [0, 500, 2_000];
const PER_CLIENT = 150;
const BLOCKS = 5;
const REST_MS = 10_000;

/**
 * Creates by bare clients on an API server with idle agents, compared with a server without agents. There are two
 * servers, so that the blocks can be interleaved: starting the agents takes a minute.
 */
export async function benchIdleAgents(): Promise<void> {
  await using alone = await startSubject();
  await using crowded = await startSubject();
  using crowd = new IdleCrowd(crowded.site);
  const lines: Line[] = [];
  for (const size of CROWDS) {
    await crowd.growTo(size);
    lines.push(...(await compare(alone, crowded, size)));
  }
  printTable('Creates by 4 bare clients while idle agents are connected, next to a server without', lines);
}

interface Subject extends AsyncDisposable {
  readonly site: ClusterSite;
  readonly raw: RawClients;
}

async function startSubject(): Promise<Subject> {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(await ClusterSite.start(NODES));
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  for (const node of site.nodes) {
    await using agent = await site.startAgent(node);
    await addAll([agent], await site.createPods([node.name], 1), 'bench');
  }
  const raw = stack.use(RawClients.start(site.server, site.nodes, await readSpecs(site)));
  const everything = stack.move();
  return { site, raw, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

async function compare(alone: Subject, crowded: Subject, size: number): Promise<Line[]> {
  const restShare = await measureRest(crowded);
  const measured = await measureInBlocks(
    { alone: () => measureCreates(alone), crowded: () => measureCreates(crowded) },
    BLOCKS,
  );
  const column = (name: 'alone' | 'crowded', at: number) =>
    measured.values[name].map((block) => block[at] ?? Number.NaN);
  const ratios = (at: number) =>
    column('crowded', at).map((value, block) => value / (column('alone', at)[block] ?? Number.NaN));
  const [rates, cpus] = [ratios(0), ratios(1)];
  const limit = size === 0 ? {} : { limit: 'at least 0.90 ×', isMet: median(rates) >= 0.9 };
  return [
    {
      what: `${size} idle agents (${noteNoise(measured)})`,
      value: `${median(column('crowded', 0)).toFixed(0)}/s`,
      against: `${median(rates).toFixed(2)} × without ± ${percent(spread(rates))}`,
      ...limit,
    },
    {
      what: '  CPU of the API server for one create',
      value: `${ms(median(column('crowded', 1)))}; ${percent(restShare)} of a core at rest`,
      against: `${median(cpus).toFixed(2)} × without ± ${percent(spread(cpus))}`,
    },
  ];
}

/** Creates per second, and CPU milliseconds of kube-apiserver per create. */
async function measureCreates({ site, raw }: Subject): Promise<number[]> {
  const beforeMs = readCpuMs(site.server.pid());
  const { seconds, latenciesMs } = await raw.create(PER_CLIENT);
  const { length } = latenciesMs;
  return [length / seconds, (readCpuMs(site.server.pid()) - beforeMs) / length];
}

/** The share of one core that the server needs while there are no creates. */
async function measureRest({ site }: Subject): Promise<number> {
  const beforeMs = readCpuMs(site.server.pid());
  await sleep(REST_MS);
  return (readCpuMs(site.server.pid()) - beforeMs) / REST_MS;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
