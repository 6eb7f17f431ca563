import type { ClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { addAll } from './cluster-adds.ts';
import { type BenchPod, ClusterSite } from './cluster-site.ts';
import { type Line, printTable } from './report.ts';
import { median, spread } from './statistics.ts';

const NODES = ['worker-1', 'worker-2', 'worker-3', 'worker-4'];
const BLOCKS = 5;
/** Steps of half a second. There are many of them, because a single pause of the server would decide a few. */
const LONG_BLOCKS = 9;
const FIT = 1_000;
const WIDE = 4_000;
const LONG = 2_000;
const STEP = 200;
const MOST_REJECTED = 100;

/** A pool with exactly as many addresses as ADDs. Each block has its own pool and interface name. */
export async function benchFit(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  const agents = await site.startAgents();
  const pods = await site.createPods(NODES, LONG / NODES.length);
  await measureFit(site, agents, pods);
  await measureLast(site, agents, pods);
}

let pools = 0;

async function makePool(site: ClusterSite, size: number): Promise<{ pool: string; ifName: string }> {
  pools += 1;
  const first = `10.${pools}.0.0`;
  const last = `10.${pools}.${(size - 1) >> 8}.${(size - 1) & 255}`;
  await site.createPool(`pool-${pools}`, `${first}-${last}`);
  return { pool: `pool-${pools}`, ifName: `net${pools}` };
}

async function measureFit(
  site: ClusterSite,
  agents: readonly ClusterAgentProcess[],
  pods: readonly BenchPod[][],
): Promise<void> {
  const some = pods.map((it) => it.slice(0, FIT / NODES.length));
  const fill = async (size: number) => {
    const { pool, ifName } = await makePool(site, size);
    const rejectedBefore = await countRejected(site);
    const { seconds, addresses } = await addAll(agents, some, pool, ifName);
    return [seconds, (await countRejected(site)) - rejectedBefore, new Set(addresses).size];
  };
  const measured = await measureInBlocks({ wide: () => fill(WIDE), fit: () => fill(FIT) }, BLOCKS);
  const column = (name: 'wide' | 'fit', at: number) => measured.values[name].map((block) => block[at] ?? Number.NaN);
  const ratios = column('fit', 0).map((value, block) => value / (column('wide', 0)[block] ?? Number.NaN));
  const rejected = column('fit', 1);
  const distinct = Math.min(...column('fit', 2));
  printTable(`${FIT} ADDs on ${FIT} addresses, 4 agents (${noteNoise(measured)})`, [
    {
      what: 'addresses, no two alike',
      value: `${distinct} in every block`,
      limit: `${FIT}`,
      isMet: distinct === FIT,
    },
    {
      what: 'time',
      value: `${median(column('fit', 0)).toFixed(2)} s`,
      against: `${median(ratios).toFixed(2)} × that with ${WIDE} addresses ± ${(spread(ratios) * 100).toFixed(0)} %`,
      limit: 'at most 1.50 ×',
      isMet: median(ratios) <= 1.5,
    },
    {
      what: 'rejected creates',
      value: `${rejected.join(', ')}; with ${WIDE} addresses ${column('wide', 1).join(', ')}`,
      limit: `at most ${MOST_REJECTED} in any block`,
      isMet: Math.max(...rejected) <= MOST_REJECTED,
    },
  ]);
}

async function measureLast(
  site: ClusterSite,
  agents: readonly ClusterAgentProcess[],
  pods: readonly BenchPod[][],
): Promise<void> {
  const share = STEP / NODES.length;
  const fill = async () => {
    const { pool, ifName } = await makePool(site, LONG);
    const seconds: number[] = [];
    for (let from = 0; from < LONG / NODES.length; from += share) {
      const step = pods.map((it) => it.slice(from, from + share));
      seconds.push((await addAll(agents, step, pool, ifName)).seconds);
    }
    return [seconds.at(0) ?? Number.NaN, seconds.at(-1) ?? Number.NaN];
  };
  const measured = await measureInBlocks({ fill }, LONG_BLOCKS);
  const [first, last] = [0, 1].map((at) => measured.values.fill.map((block) => block[at] ?? Number.NaN));
  const ratios = (last ?? []).map((value, block) => value / (first?.[block] ?? Number.NaN));
  const line: Line = {
    what: `last ${STEP}`,
    value: `${median(last ?? []).toFixed(2)} s`,
    against: `${median(ratios).toFixed(2)} × the first ${STEP} ± ${(spread(ratios) * 100).toFixed(0)} %`,
    limit: 'at most 1.50 ×',
    isMet: median(ratios) <= 1.5,
  };
  printTable(`${LONG} ADDs on ${LONG} addresses, ${STEP} at a time (${noteNoise(measured)})`, [line]);
}

function countRejected({ server }: ClusterSite): Promise<number> {
  return server.requestCount({ resource: 'iprecords', verb: 'POST', code: '409' });
}
