import { setTimeout as sleep } from 'node:timers/promises';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { clientOf } from '#test/integration/kube-things.ts';
import { serveWebhook } from '#test/integration/serve-webhook.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { readCalls } from './cluster-calls.ts';
import { ClusterSite, inFlight } from './cluster-site.ts';
import { countObjects, startController } from './controller-site.ts';
import { stallLine, WITH_STALLS } from './controller-stalls.ts';
import { printTable } from './report.ts';
import { median } from './statistics.ts';

const APPLICATIONS = Number(process.env['BENCH_APPLICATIONS'] ?? 500);
const REPLICAS = 3;
const BLOCKS = 5;
const CREATES_IN_FLIGHT = 32;
const LOOK_EVERY_MS = 20;
/** The projections of the status follow within seconds. */
const STATUS_MS = 5_000;
const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const SUBNETS = '/apis/spiderpool.spidernet.io/v2beta1/spidersubnets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const names = Array.from({ length: APPLICATIONS }, (_, at) => `shop-${at}`);

/** Applications that ask for subnets, all at once, compared with bare creates of as many pools through the same webhook. */
export async function benchAutoPools(): Promise<void> {
  await using site = await ClusterSite.start(['worker-1']);
  using admin = clientOf(site.server);
  await using _webhook = await serveWebhook({ admin, client: admin, ledger: openKubernetesLedger(admin) });
  await createSubnet(site, 'bare', 1);
  await createSubnet(site, 'shops', 2);
  await using controller = await startController(site, { IPLEDGER_GC_SETTLE_DURATION: '1', ...WITH_STALLS });
  await deployAll(site, ['first']);
  await untilPools(site, 1);
  await removeAll(site, DEPLOYMENTS, ['first']);
  await untilPools(site, 0);

  const calls: Calls[] = [];
  const bare = async () => {
    const startedMs = performance.now();
    await inFlight([...names.entries()], CREATES_IN_FLIGHT, ([at, name]) => createBarePool(site, at, name));
    const seconds = (performance.now() - startedMs) / 1_000;
    await removeAll(site, POOLS, names);
    await untilPools(site, 0);
    return [seconds];
  };
  const auto = async () => {
    const before = readCalls(await site.server.metrics());
    const startedMs = performance.now();
    const deployed = deployAll(site, names);
    const first = untilPools(site, 1).then(() => performance.now());
    await deployed;
    const deployedSeconds = (performance.now() - startedMs) / 1_000;
    await untilPools(site, APPLICATIONS);
    const lastMs = performance.now();
    await sleep(STATUS_MS);
    calls.push(difference(before, readCalls(await site.server.metrics())));
    await removeAll(site, DEPLOYMENTS, names);
    await untilPools(site, 0);
    return [(lastMs - startedMs) / 1_000, (lastMs - (await first)) / 1_000, deployedSeconds];
  };
  const measured = await measureInBlocks({ bare, auto }, BLOCKS);
  const column = (name: 'bare' | 'auto', at: number) => measured.values[name].map((block) => block[at] ?? Number.NaN);
  const bareSeconds = column('bare', 0);
  const ratioTo = (seconds: readonly number[]) => median(seconds.map((it, at) => it / (bareSeconds[at] ?? Number.NaN)));
  const [last, making] = [ratioTo(column('auto', 0)), ratioTo(column('auto', 1))];
  const perPool = (pattern: RegExp) => median(calls.map((it) => countOf(it, pattern))) / APPLICATIONS;
  const writes = perPool(/^(POST|PUT|PATCH) spiderippools 20/);
  const statusWrites = median(calls.map((it) => countOf(it, /^(PUT|PATCH) spidersubnets\/status 20/)));
  printTable(`${APPLICATIONS} Deployments that ask for a subnet, at once (${noteNoise(measured)})`, [
    { what: `${APPLICATIONS} bare pools`, value: `${median(bareSeconds).toFixed(2)} s` },
    { what: 'Deployments created in', value: `${median(column('auto', 2)).toFixed(2)} s` },
    {
      what: 'pools made, from the first to the last',
      value: `${median(column('auto', 1)).toFixed(2)} s`,
      against: `${(1 / making).toFixed(2)} × the rate`,
      limit: 'at least 0.5 ×',
      isMet: making <= 2,
    },
    {
      what: 'the last pool, after the first Deployment was sent',
      value: `${median(column('auto', 0)).toFixed(2)} s`,
      against: `${last.toFixed(2)} × the time`,
      limit: 'at most 2.5 ×',
      isMet: last <= 2.5,
    },
    { what: 'writes per pool', value: writes.toFixed(2), limit: 'one', isMet: writes === 1 },
    {
      what: 'status writes of the subnet',
      value: `${statusWrites} for ${APPLICATIONS} pools`,
      limit: 'a share of a debounced one: under 0.1 per pool',
      isMet: statusWrites < APPLICATIONS / 10,
    },
    {
      what: 'status writes of pools (their own projection)',
      value: perPool(/^(PUT|PATCH) spiderippools\/status 20/).toFixed(2),
    },
    await stallLine(controller),
  ]);
  await growth(site);
}

/** What it costs that one of the pools grows. */
async function growth(site: ClusterSite): Promise<void> {
  await deployAll(site, names.slice(0, 20));
  await untilPools(site, 20);
  await sleep(STATUS_MS);
  const before = readCalls(await site.server.metrics());
  await site.patch(`${DEPLOYMENTS}/${names[0]}`, { spec: { replicas: REPLICAS + 5 } });
  await sleep(STATUS_MS);
  const grown = difference(before, readCalls(await site.server.metrics()));
  const writes = countOf(grown, /^(POST|PUT|PATCH|DELETE) spiderippools 20/);
  const others = [...grown].filter(([call]) => /spider/.test(call)).map(([call, count]) => `${count} × ${call}`);
  printTable('One pool of 20 grows', [
    { what: 'writes', value: String(writes), against: others.join(', '), limit: 'one', isMet: writes === 1 },
  ]);
}

type Calls = ReadonlyMap<string, number>;

function difference(before: Calls, after: Calls): Calls {
  return new Map(
    [...after].map(([call, count]) => [call, count - (before.get(call) ?? 0)] as const).filter(([, n]) => n > 0),
  );
}

function countOf(calls: Calls, pattern: RegExp): number {
  return [...calls].reduce((sum, [call, count]) => sum + (pattern.test(call) ? count : 0), 0);
}

async function createSubnet(site: ClusterSite, name: string, net: number): Promise<void> {
  const kind = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderSubnet' };
  const spec = { subnet: `10.${net}.0.0/16`, ips: [`10.${net}.0.1-10.${net}.255.254`] };
  await site.create(SUBNETS, { ...kind, metadata: { name }, spec });
}

/** As large as the pool of an application. */
async function createBarePool(site: ClusterSite, at: number, name: string): Promise<void> {
  const from = at * REPLICAS + 1;
  const address = (value: number) => `10.1.${value >> 8}.${value & 255}`;
  const ips = [`${address(from)}-${address(from + REPLICAS - 1)}`];
  const podAffinity = { matchLabels: { app: name, tier: 'frontend', team: 'shop', stage: 'prod', region: 'north' } };
  const kind = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool' };
  await site.create(POOLS, { ...kind, metadata: { name }, spec: { subnet: '10.1.0.0/16', ips, podAffinity } });
}

async function deployAll(site: ClusterSite, which: readonly string[]): Promise<void> {
  const annotations = { 'ipam.spidernet.io/subnet': JSON.stringify({ ipv4: ['shops'] }) };
  await inFlight(which, CREATES_IN_FLIGHT, (name) => {
    const labels = { app: name };
    const template = { metadata: { labels, annotations }, spec: { containers: [{ name: 'main', image: 'main' }] } };
    const spec = { replicas: REPLICAS, selector: { matchLabels: labels }, template };
    return site.create(DEPLOYMENTS, { metadata: { name }, spec });
  });
}

async function removeAll(site: ClusterSite, path: string, which: readonly string[]): Promise<void> {
  await inFlight(which, CREATES_IN_FLIGHT, (name) => site.remove(`${path}/${name}`));
}

async function untilPools(site: ClusterSite, count: number): Promise<void> {
  const isDone = async () => {
    const there = await countObjects(site, POOLS);
    return count === 0 ? there === 0 : there >= count;
  };
  while (!(await isDone())) await sleep(LOOK_EVERY_MS);
}
