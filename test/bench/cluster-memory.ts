import { setTimeout as sleep } from 'node:timers/promises';
import type { JoinedNode } from '#test/support/joined-nodes.ts';
import { readRssMb } from './agent-bench.ts';
import { addAll } from './cluster-adds.ts';
import { RawClients, readSpecs } from './cluster-raw-clients.ts';
import { ClusterSite } from './cluster-site.ts';
import { printTable } from './report.ts';
import { median } from './statistics.ts';

const SMALL = 1_000;
const LARGE = 10_000;
const PODS_PER_NODE = 110;
const AGENTS = 3;
const MOST_MB = 150;
/** 10.1.128.0, in the middle of the pool, so that the views of the agents contain all of them. */
const FIRST_ADDRESS = 0x0a018000;

/** VmRSS of fresh agents, 5 s after the pods of their node got addresses, in a small and in a large cluster. */
export async function benchClusterMemory(): Promise<void> {
  const names = Array.from({ length: 2 * AGENTS + 1 }, (_, at) => `worker-${at}`);
  await using site = await ClusterSite.start(names);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const [seed, ...nodes] = site.nodes;
  if (seed === undefined) throw new Error('a site without nodes');
  {
    await using agent = await site.startAgent(seed);
    await addAll([agent], await site.createPods([seed.name], 1), 'bench');
  }
  using raw = RawClients.start(site.server, [seed], await readSpecs(site), FIRST_ADDRESS);
  const fill = new Filling(site, raw);
  await fill.upTo(SMALL);
  const small = await measureAgents(site, nodes.slice(0, AGENTS));
  await fill.upTo(LARGE);
  const large = await measureAgents(site, nodes.slice(AGENTS));
  const growth = median(large) / median(small);
  const list = (values: readonly number[]) => values.map((it) => it.toFixed(0)).join(', ');
  printTable(`Agent memory, ${PODS_PER_NODE} pods on its node, 5 s after their ADDs, ${AGENTS} agents each`, [
    { what: `RSS among ${SMALL} pods and records`, value: `${median(small).toFixed(1)} MB (${list(small)})` },
    {
      what: `RSS among ${LARGE} pods and records`,
      value: `${median(large).toFixed(1)} MB (${list(large)})`,
      limit: `under ${MOST_MB} MB`,
      isMet: Math.max(...large) < MOST_MB,
    },
    { what: 'growth', value: '', against: `${growth.toFixed(2)} ×`, limit: 'at most 1.10 ×', isMet: growth <= 1.1 },
  ]);
}

/** Pods of other nodes and their records, in addition to those of the measured agents. */
class Filling {
  readonly #site: ClusterSite;
  readonly #raw: RawClients;
  #there = 0;

  constructor(site: ClusterSite, raw: RawClients) {
    this.#site = site;
    this.#raw = raw;
  }

  async upTo(count: number): Promise<void> {
    const more = count - this.#there;
    const elsewhere = Array.from({ length: 10 }, (_, at) => `elsewhere-${at}`);
    await this.#site.createPods(elsewhere, more / elsewhere.length);
    await this.#raw.create(more);
    this.#there = count;
  }
}

async function measureAgents(site: ClusterSite, nodes: readonly JoinedNode[]): Promise<number[]> {
  const figures: number[] = [];
  for (const node of nodes) {
    await using agent = await site.startAgent(node);
    await addAll([agent], await site.createPods([node.name], PODS_PER_NODE), 'bench');
    await sleep(5_000);
    figures.push(readRssMb(agent));
  }
  return figures;
}
