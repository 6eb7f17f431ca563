import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import { noteNoise } from './blocks.ts';
import { addOne } from './cluster-adds.ts';
import { type BenchPod, ClusterSite } from './cluster-site.ts';
import { countObjects, createRecords, keepNodeWell, startController } from './controller-site.ts';
import { stallLine, WITH_STALLS } from './controller-stalls.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { ms, printTable } from './report.ts';
import { Client } from './socket-load.ts';
import { quantile } from './statistics.ts';

const LEAKED = 10_000;
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const ADD_EVERY_MS = 50;
const BASELINE_ADDS = 400;
const MOST_ADDS = 1_600;
const LIMIT_SECONDS = 60;
const SETTLE_SECONDS = 5;
const MOST_FOREIGN = 0.1;

/** 10,000 leaked records with strong evidence are collected while an agent serves a steady stream of ADDs. */
export async function benchSweep(): Promise<void> {
  await using site = await ClusterSite.start(['worker-1']);
  await using _well = await keepNodeWell(site, 'worker-1');
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const [agent] = await site.startAgents();
  if (agent === undefined) throw new Error('a site without agents');
  const [pods = []] = await site.createPods(['worker-1'], 2 * BASELINE_ADDS + MOST_ADDS);
  const rest = pods.values();
  const dead = Array.from({ length: LEAKED }, (_, at) => ({ name: `dead-${at}`, uid: randomUUID() }));
  await createRecords(site, { net: 2, node: 'worker-lost', pool: 'leaked' }, dead);

  await steadyAdds(agent, rest, 50);
  const before = await steadyAdds(agent, rest, BASELINE_ADDS);
  const mark = markCpu();
  await using controller = await startController(site, {
    IPLEDGER_GC_SETTLE_DURATION: String(SETTLE_SECONDS),
    ...WITH_STALLS,
  });
  const freed = () => controller.lines.filter(({ msg }) => msg === 'record freed').length;
  while (freed() === 0) await sleep(20);
  const startedMs = performance.now();
  let isOver = false;
  const during = steadyAdds(agent, rest, MOST_ADDS, () => isOver);
  while (freed() < LEAKED && performance.now() - startedMs < 4 * LIMIT_SECONDS * 1_000) await sleep(50);
  const seconds = (performance.now() - startedMs) / 1_000;
  isOver = true;
  const meanwhile = await during;
  const after = await steadyAdds(agent, rest, BASELINE_ADDS);
  const foreign = foreignShare(mark);
  const left = (await countObjects(site, RECORDS)) - before.length - meanwhile.length - after.length - 50;
  const p99 = (latencies: readonly number[]) => quantile(latencies, 0.99);
  const alone = p99([...before, ...after]);
  const ratio = p99(meanwhile) / alone;
  printTable(`Collection of ${LEAKED} leaked records (${noteNoise({ foreign, isNoisy: foreign > MOST_FOREIGN })})`, [
    {
      what: 'all gone after the first of them',
      value: `${seconds.toFixed(1)} s, ${left} left`,
      limit: `at most ${LIMIT_SECONDS} s`,
      isMet: seconds <= LIMIT_SECONDS && left === 0,
    },
    { what: `ADD p99 without it, one each ${ADD_EVERY_MS} ms`, value: ms(alone) },
    {
      what: `ADD p99 meanwhile, ${meanwhile.length} ADDs`,
      value: ms(p99(meanwhile)),
      against: `${ratio.toFixed(2)} ×`,
      limit: 'at most 2 ×',
      isMet: ratio <= 2,
    },
    await stallLine(controller),
  ]);
}

/** One ADD per interval, even if the previous one is not done, so that waiting time is measured. */
async function steadyAdds(
  agent: ClusterAgentProcess,
  pods: Iterator<BenchPod>,
  count: number,
  isOver: () => boolean = () => false,
): Promise<number[]> {
  const client = new Client(agent.socket);
  const startedMs = performance.now();
  const adds: Promise<number>[] = [];
  for (let at = 0; at < count && !isOver(); at += 1) {
    const dueMs = startedMs + at * ADD_EVERY_MS;
    await sleep(Math.max(0, dueMs - performance.now()));
    const { value: pod, done } = pods.next();
    if (done === true) break;
    const sentMs = performance.now();
    adds.push(addOne(client, pod, 'bench').then(() => performance.now() - sentMs));
  }
  const latencies = await Promise.all(adds);
  client.close();
  return latencies;
}
