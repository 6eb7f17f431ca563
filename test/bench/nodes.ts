import { kubeCalls } from '#test/nodes/kube-calls.ts';
import { HOST_LOCAL } from '#test/real-cluster/cni-config.ts';
import { installIpledger } from '#test/real-cluster/install.ts';
import { startRealCluster } from '#test/real-cluster/real-cluster.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { type AgentReading, readAgents } from './nodes-agents.ts';
import { type BurstWish, measureBurst, type PodTimes } from './nodes-burst.ts';
import { ms, printTable } from './report.ts';
import { median, quantile, spread } from './statistics.ts';

/** `npm run bench:nodes`: pods on three real nodes, by ipledger and by host-local in turn, in an order that alternates. */
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 8);
const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const MOST_RATIO = 1.05;

type Subject = 'ipledger' | 'probing' | 'host-local';
const WISHES: Readonly<Record<Subject, BurstWish>> = {
  ipledger: { pool: 'bench' },
  probing: { pool: 'bench-probing' },
  'host-local': { runtimeClass: HOST_LOCAL.name },
};

await using cluster = await startRealCluster(3);
const { place } = cluster;
await installIpledger(place, 3);
const kube = kubeCalls(place);
for (const [index, name] of ['bench', 'bench-probing'].entries()) {
  const spec = {
    subnet: '10.88.0.0/16',
    ips: [`10.88.${100 + index}.1-10.88.${100 + index}.250`],
    gateway: '10.88.0.1',
  };
  const annotations = { 'ipledger.io/detect-ip-conflict': String(index === 1) };
  await kube.create(POOLS, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: { name, annotations },
    spec,
  });
}
const nodes = cluster.nodes.map(({ plan }) => plan.name);
await compare(12, ['ipledger', 'host-local', 'probing'], PAIRS);
await compare(50, ['ipledger', 'host-local'], 2);
// Nothing keeps this process from its end, but a socket may.
await cluster[Symbol.asyncDispose]();
process.exit();

async function compare(count: number, subjects: readonly Subject[], pairs: number): Promise<void> {
  console.log(`\n${count} pods at once over ${nodes.length} nodes, ${pairs} rounds …`);
  for (const subject of subjects) await measureBurst(place, nodes, count, WISHES[subject]);
  const blocks = new Map<Subject, PodTimes[][]>(subjects.map((subject) => [subject, []]));
  const calls: AgentReading[] = [];
  const mark = markCpu();
  for (let round = 0; round < pairs; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const before = await readAgents(cluster.nodes);
      blocks.get(subject)?.push(await measureBurst(place, nodes, count, WISHES[subject]));
      if (subject === 'ipledger') calls.push((await readAgents(cluster.nodes)).since(before));
    }
  }
  report(count, subjects, blocks, calls, foreignShare(mark));
}

function report(
  count: number,
  subjects: readonly Subject[],
  blocks: ReadonlyMap<Subject, PodTimes[][]>,
  calls: readonly AgentReading[],
  foreign: number,
): void {
  const of = (subject: Subject, share: number, phase: keyof PodTimes) =>
    (blocks.get(subject) ?? []).map((times) =>
      quantile(
        times.map((it) => it[phase]),
        share,
      ),
    );
  const lines = subjects.flatMap((subject) =>
    (['runningMs', 'sandboxMs'] as const).flatMap((phase) =>
      [0.5, 0.95].map((share) => {
        const [own, base] = [of(subject, share, phase), of('host-local', share, phase)];
        const ratio = median(own.map((value, block) => value / (base[block] ?? Number.NaN)));
        const isLimited = subject === 'ipledger' && phase === 'runningMs' && count === 12;
        return {
          what: `${subject}, ${phase === 'runningMs' ? 'create → Running' : 'scheduled → network ready'}, p${share * 100}`,
          value: `${ms(median(own))} ± ${(spread(own) * 100).toFixed(0)} %`,
          ...(subject === 'host-local' ? {} : { against: `${ratio.toFixed(3)} of host-local` }),
          ...(isLimited ? { limit: `≤ ${MOST_RATIO}`, isMet: ratio <= MOST_RATIO } : {}),
        };
      }),
    ),
  );
  const last = calls.at(-1);
  printTable(`${count} pods at once (${(foreign * 100).toFixed(0)} % foreign CPU)`, [
    ...lines,
    {
      what: 'an ADD in the agent, average of a burst',
      value: ms(median(calls.map(({ averageAddMs }) => averageAddMs))),
    },
    { what: 'ADDs per pod', value: (calls.reduce((sum, it) => sum + it.adds, 0) / calls.length / count).toFixed(2) },
    {
      what: 'RSS of an agent, the largest',
      value: `${last?.rssMb} MB`,
      limit: '≤ 150 MB',
      isMet: (last?.rssMb ?? 0) <= 150,
    },
    { what: 'CPU of the agents in a burst', value: ms(median(calls.map(({ cpuMs }) => cpuMs))) },
  ]);
}
