import { setTimeout as sleep } from 'node:timers/promises';
import type { ControllerProgram } from '#test/integration/controller-program.ts';
import { installCapi } from '#test/support/capi-crds.ts';
import { readRssMb } from './agent-bench.ts';
import { ClaimBench, type Stretch } from './claim-bench.ts';
import { ClusterSite } from './cluster-site.ts';
import { createRecords, startController } from './controller-site.ts';
import { longestStallMs, stallLineOf, WITH_STALLS } from './controller-stalls.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { type Line, printTable } from './report.ts';
import { median } from './statistics.ts';

const CLAIMS = 1_000;
const POOL = '10.2.0.0-10.2.3.231';
const BLOCKS = 5;
const LOWEST_SHARE = 0.25;
const MOST_WRITES = 4;
const MOST_MB = 100;
const IDLE_MS = 5_000;
const WATCHES =
  /^apiserver_longrunning_requests\{[^}]*group="(ipam\.)?cluster\.x-k8s\.io"[^}]*verb="WATCH"[^}]*\} (\d+)$/gm;

/** 1,000 claims on a pool of exactly 1,000, un-paused at once, and deleted at once; next to bare creates of records. */
export async function benchClaims(): Promise<void> {
  await using site = await ClusterSite.start(['worker-1']);
  await site.createPool('raw', '10.201.0.0-10.220.255.255');
  await site.createPool('machines', POOL);
  await site.createPool('warm-up', '10.3.0.0');
  await using controller = await startController(site, WITH_STALLS);
  const without = await lookIdle(site, controller);
  await installCapi(site.server);
  const bench = await ClaimBench.start(site);
  const beside = await lookIdle(site, controller);

  const [raw, fulfilled, ended]: [number[], Stretch[], Stretch[]] = [[], [], []];
  let longest = 0;
  let distinct = CLAIMS;
  const mark = markCpu();
  for (let block = 0; block < BLOCKS; block += 1) {
    longest = Math.max(longest, await longestStallMs(controller));
    raw.push(await rawRate(site, controller, 201 + block));
    await forgetHalt(controller);
    const names = Array.from({ length: CLAIMS }, (_, at) => `vm-${block}-${at}`);
    fulfilled.push(await bench.fulfil(names, 'machines'));
    distinct = Math.min(distinct, await bench.countDistinct('machines'));
    ended.push(await bench.end(names));
    const rates = [raw.at(-1), fulfilled.at(-1)?.perSecond, ended.at(-1)?.perSecond];
    console.log(`block ${block + 1}: raw, fulfilled, ended a second: ${rates.map((it) => it?.toFixed(0)).join(', ')}`);
  }
  longest = Math.max(longest, await longestStallMs(controller));
  const foreign = (foreignShare(mark) * 100).toFixed(0);
  printTable(`${CLAIMS} claims of a pool of ${CLAIMS}, at once (${BLOCKS} blocks, ${foreign} % foreign CPU)`, [
    { what: 'distinct addresses', value: String(distinct), limit: String(CLAIMS), isMet: distinct === CLAIMS },
    ...lines('fulfilled', fulfilled, raw),
    ...lines('ended', ended, raw),
    {
      what: 'watches for Cluster API where it is not installed',
      value: String(without.watches),
      against: `${beside.watches} with it`,
      limit: 'none',
      isMet: without.watches === 0,
    },
    {
      what: 'RSS of the idle leader without it',
      value: mb(without.rss),
      against: `${mb(beside.rss)} with it`,
      limit: `at most ${mb(MOST_MB)}`,
      isMet: without.rss <= MOST_MB,
    },
    { what: 'writes saved of finalizer, record, IPAddress and status', value: 'none' },
    { what: 'writes saved of record, IPAddress (deleted, let go) and finalizer', value: 'none' },
    stallLineOf(longest),
  ]);
}

function lines(what: string, stretches: readonly Stretch[], raw: readonly number[]): Line[] {
  const shares = stretches.map(({ perSecond }, at) => perSecond / (raw[at] ?? 0));
  const share = median(shares);
  const middle = (of: (it: Stretch) => number) => median(stretches.map(of));
  const [writes, reads] = [middle((it) => it.writes), middle((it) => it.reads)];
  const spread = `${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)}`;
  return [
    {
      what: `claims ${what} a second`,
      value: `${middle((it) => it.perSecond).toFixed(0)}/s, raw creates ${median(raw).toFixed(0)}/s`,
      against: `${share.toFixed(2)} × raw (${spread})`,
      limit: `at least ${LOWEST_SHARE} ×`,
      isMet: share >= LOWEST_SHARE,
    },
    {
      what: `writes per claim ${what}`,
      value: writes.toFixed(3),
      limit: `at most ${MOST_WRITES}`,
      isMet: writes <= MOST_WRITES,
    },
    // Claims that end share a read of their cluster.
    { what: `reads per claim ${what}`, value: reads.toFixed(3), limit: 'none of its own', isMet: reads < 0.1 },
  ];
}

/** With the controller halted and the records gone again: neither side pays for the other. */
async function rawRate(site: ClusterSite, { pid }: ControllerProgram, net: number): Promise<number> {
  const pods = Array.from({ length: CLAIMS }, (_, at) => ({
    name: `raw-${at}`,
    uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
  }));
  process.kill(pid, 'SIGSTOP');
  const startedMs = performance.now();
  await createRecords(site, { net, node: 'worker-1', pool: 'raw' }, pods);
  const seconds = (performance.now() - startedMs) / 1_000;
  await site.remove('/apis/ipledger.io/v1alpha1/iprecords?labelSelector=ipledger.io%2Fpool%3Draw');
  process.kill(pid, 'SIGCONT');
  return CLAIMS / seconds;
}

/** The halt looks like a stall: the next scrape begins anew. */
async function forgetHalt(controller: ControllerProgram): Promise<void> {
  await sleep(1_000);
  await longestStallMs(controller);
}

async function lookIdle({ server }: ClusterSite, controller: ControllerProgram) {
  await sleep(IDLE_MS);
  const watches = [...(await server.metrics()).matchAll(WATCHES)].reduce((sum, [, , count]) => sum + Number(count), 0);
  return { watches, rss: readRssMb(controller) };
}

function mb(value: number): string {
  return `${value.toFixed(0)} MB`;
}
