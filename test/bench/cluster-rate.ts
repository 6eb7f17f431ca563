import { measureInBlocks, noteNoise } from './blocks.ts';
import { addAll } from './cluster-adds.ts';
import { RawClients, readSpecs } from './cluster-raw-clients.ts';
import { ClusterSite } from './cluster-site.ts';
import { ms, printTable } from './report.ts';
import { median, quantile, spread } from './statistics.ts';

const NODES = ['worker-1', 'worker-2', 'worker-3', 'worker-4'];
const PER_NODE = 200;
const BLOCKS = 5;

/** ADDs of four agents, ten in flight each, compared with the same creates by bare clients. */
export async function benchRate(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const agents = await site.startAgents();
  await addAll(agents, await site.createPods(NODES, 5), 'bench');
  using raw = RawClients.start(site.server, site.nodes, await readSpecs(site));

  const measured = await measureInBlocks(
    {
      raw: async () => figures(await raw.create(PER_NODE)),
      adds: async () => figures(await addAll(agents, await site.createPods(NODES, PER_NODE), 'bench')),
    },
    BLOCKS,
  );
  const column = (name: 'raw' | 'adds', at: number) => measured.values[name].map((block) => block[at] ?? Number.NaN);
  const ratios = (at: number) =>
    column('adds', at).map((value, block) => value / (column('raw', at)[block] ?? Number.NaN));
  const [rates, tails] = [ratios(0), ratios(2)];
  printTable(`ADD, 4 agents, 10 in flight each, next to bare creates (${noteNoise(measured)})`, [
    {
      what: 'ADD/s',
      value: `${median(column('adds', 0)).toFixed(0)}/s, raw ${median(column('raw', 0)).toFixed(0)}/s`,
      against: `${median(rates).toFixed(2)} × raw ± ${(spread(rates) * 100).toFixed(0)} %`,
      limit: 'at least 0.80 ×',
      isMet: median(rates) >= 0.8,
    },
    {
      what: 'p50',
      value: `${ms(median(column('adds', 1)))}, raw ${ms(median(column('raw', 1)))}`,
      against: `${median(ratios(1)).toFixed(2)} × raw`,
    },
    {
      what: 'p99',
      value: `${ms(median(column('adds', 2)))}, raw ${ms(median(column('raw', 2)))}`,
      against: `${median(tails).toFixed(2)} × raw ± ${(spread(tails) * 100).toFixed(0)} %`,
      limit: 'at most 3.00 ×',
      isMet: median(tails) <= 3,
    },
  ]);
}

function figures({ seconds, latenciesMs }: { seconds: number; latenciesMs: readonly number[] }): number[] {
  return [latenciesMs.length / seconds, quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)];
}
