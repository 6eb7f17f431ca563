import { kubeCalls } from '#test/nodes/kube-calls.ts';
import { HOST_LOCAL } from '#test/real-cluster/cni-config.ts';
import { installIpledger } from '#test/real-cluster/install.ts';
import { startRealCluster } from '#test/real-cluster/real-cluster.ts';
import { type AuditedRequest, countCalls, endOfLog, isOfPods, requestsSince, untilQuiet } from './audit-log.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { type AgentWork, readAgents, readMemory, workBetween } from './nodes-agents.ts';
import { type Burst, type BurstWish, measureBurst } from './nodes-burst.ts';
import { addLines, callLines, memoryLines, sandboxLines } from './nodes-report.ts';
import { type Bursts, PHASES, type Phase, type PhaseLimit, phaseLine } from './pod-phases.ts';
import { printTable } from './report.ts';

/** `npm run bench:nodes`: pods on three real nodes, by ipledger and by host-local in turn, in an order that alternates. */
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 8);
const MANY_PAIRS = Number(process.env['BENCH_MANY_PAIRS'] ?? 5);
const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const MOST_RATIO = 1.05;
/** `probeWindowMs` of conf.yml, which the chart leaves as it is. */
const PROBE_WINDOW_MS = 100;
const QUANTILES = [0.5, 0.95];

type Subject = 'ipledger' | 'probing' | 'host-local';
const WISHES: Readonly<Record<Subject, BurstWish>> = {
  ipledger: { pool: 'bench' },
  probing: { pool: 'bench-probing' },
  'host-local': { runtimeClass: HOST_LOCAL.name },
};

await using cluster = await startRealCluster(3, { isAudited: true });
const { place } = cluster;
const { auditFile } = cluster.control;
if (auditFile === null) throw new Error('the API server of this benchmark keeps no log of its requests');
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
const limits = {
  ipledger: { mostRatio: MOST_RATIO, extraMs: 0 },
  probing: { mostRatio: MOST_RATIO, extraMs: PROBE_WINDOW_MS },
};
await compare(12, ['ipledger', 'host-local', 'probing'], PAIRS, limits);
// Two processors are busy with 50 pods for so long that the median jumps: these ratios are shown and have no limit.
await compare(50, ['ipledger', 'host-local'], MANY_PAIRS, {});
await countRequests(50);
// Nothing keeps this process from its end, but a socket may.
await cluster[Symbol.asyncDispose]();
process.exit();

interface Observed extends Burst {
  readonly work: AgentWork;
  readonly requests: readonly AuditedRequest[];
}

async function observe(count: number, subject: Subject, file: string): Promise<Observed> {
  const [before, position] = [await readAgents(cluster.nodes), await endOfLog(file)];
  const burst = await measureBurst(place, nodes, count, WISHES[subject]);
  const work = workBetween(before, await readAgents(cluster.nodes));
  return { ...burst, work, requests: await requestsSince(file, position) };
}

async function compare(
  count: number,
  subjects: readonly Subject[],
  pairs: number,
  phaseLimits: Partial<Readonly<Record<Subject, PhaseLimit>>>,
): Promise<void> {
  console.log(`\n${count} pods at once over ${nodes.length} nodes, ${pairs} rounds …`);
  const first = new Map<Subject, Observed>();
  for (const subject of subjects) first.set(subject, await observe(count, subject, auditFile ?? ''));
  const observed = new Map<Subject, Observed[]>(subjects.map((subject) => [subject, []]));
  const mark = markCpu();
  for (let round = 0; round < pairs; round += 1)
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed())
      observed.get(subject)?.push(await observe(count, subject, auditFile ?? ''));
  const foreign = foreignShare(mark);
  const of = (subject: Subject) => observed.get(subject) ?? [];
  const base = of('host-local').map(({ times }) => times);
  const phases = subjects.flatMap((subject) => {
    const bursts: Bursts = { own: subject === 'host-local' ? base : of(subject).map(({ times }) => times), base };
    return (Object.keys(PHASES) as Phase[]).flatMap((phase) =>
      QUANTILES.map((share) =>
        phaseLine(subject, phase, share, bursts, phase === 'runningMs' ? phaseLimits[subject] : undefined),
      ),
    );
  });
  const noise = `${foreign > 0.1 ? 'NOISY: ' : ''}${(foreign * 100).toFixed(0)} % foreign CPU`;
  printTable(`${count} pods at once (${noise})`, [
    ...phases,
    ...sandboxLines(subjects, (subject) => of(subject).map((it) => it.failedSandboxes)),
    ...addLines(of('ipledger'), first.get('ipledger'), count),
    ...(subjects.includes('probing')
      ? [{ what: 'probes per pod of probing', value: (sumOf(of('probing')) / pairs / count).toFixed(2) }]
      : []),
    ...memoryLines(await readMemory(cluster.nodes)),
  ]);
}

function sumOf(observed: readonly Observed[]): number {
  return observed.reduce((sum, { work }) => sum + work.probes, 0);
}

/** One burst between two rests, so that all that follows from its pods is counted, and nothing else. */
async function countRequests(count: number): Promise<void> {
  const file = auditFile ?? '';
  await untilQuiet(file);
  const position = await endOfLog(file);
  const { failedSandboxes } = await measureBurst(place, nodes, count, WISHES.ipledger);
  await untilQuiet(file);
  const requests = (await requestsSince(file, position)).filter(isOfPods);
  const title = `Requests for ${count} pods that come and go, ${failedSandboxes} failed sandboxes (audit log of the API server)`;
  printTable(
    title,
    callLines((daemon) => countCalls(requests, daemon), count),
  );
}
