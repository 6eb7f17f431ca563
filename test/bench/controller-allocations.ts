import { setTimeout as sleep } from 'node:timers/promises';
import { planExpiry } from '#controller/allocation-plan/expiry.ts';
import type { ControllerProgram } from '#test/integration/controller-program.ts';
import { callApi } from '#test/support/api-request.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';
import { readCalls } from './cluster-calls.ts';
import { RawClients } from './cluster-raw-clients.ts';
import { ClusterSite, inFlight } from './cluster-site.ts';
import { countObjects, startController } from './controller-site.ts';
import { longestStallMs, stallLineOf, WITH_STALLS } from './controller-stalls.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { readCpuMs } from './process-cpu.ts';
import { printTable } from './report.ts';
import { median } from './statistics.ts';

const ALLOCATIONS = 1_000;
const IN_FLIGHT = 32;
/** 11.0.0.0 is in no pool. */
const RAW_ADDRESSES = 0x0b000000;
const RAW_POOL = 'raw';
const LEAST_OF_RAW = 0.25;
const BLOCKS = 3;
const LOOK_EVERY_MS = 50;
/** The API server counts a request shortly after its answer. */
const SETTLE_MS = 1_000;
const QUIET_MS = 3_000;
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const NAMESPACE = 'datacenter-01';
const KINDS = `/apis/vitistack.io/v1alpha2/namespaces/${NAMESPACE}`;
const OLD_KINDS = `/apis/vitistack.io/v1alpha1/namespaces/${NAMESPACE}`;
const RENEWALS = 10_000;
const TTL_SECONDS = 3_600;

interface Block {
  readonly rawPerSecond: number;
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly distinct: number;
  readonly records: number;
  readonly statuses: number;
  readonly metadata: number;
  readonly stallMs: number;
}

interface Listed {
  readonly items: readonly { readonly status?: { readonly phase?: string; readonly address?: string } }[];
}

/** 1,000 IPAllocations at once on exactly 1,000 addresses, compared with bare creates of records; and how renewals are spread. */
export async function benchAllocations(): Promise<void> {
  await using site = await ClusterSite.start([]);
  const { server } = site;
  await installVitistackKinds(server);
  await applyManifests(server, 'vitistack-crds', 'rbac-vitistack.yaml');
  await site.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await site.create(`${KINDS}/networknamespaces`, network());
  const configurations = Array.from({ length: ALLOCATIONS }, (_, at) => `vm-${at}`);
  await inFlight(configurations, IN_FLIGHT, (name) =>
    site.create(`${OLD_KINDS}/networkconfigurations`, {
      apiVersion: 'vitistack.io/v1alpha1',
      kind: 'NetworkConfiguration',
      metadata: { name },
      spec: { name },
    }),
  );
  await using controller = await startController(site, WITH_STALLS);
  await site.create(`${KINDS}/ipallocations`, allocation('first', 'vm-0'));
  while ((await addresses(site)).length === 0) await sleep(LOOK_EVERY_MS);
  await site.remove(`${KINDS}/ipallocations/first`);
  while ((await countObjects(site, `${KINDS}/ipallocations`)) > 0) await sleep(LOOK_EVERY_MS);
  await untilQuiet(site);

  const blocks: Block[] = [];
  const mark = markCpu();
  using raw = await startRaw(site);
  for (let block = 0; block < BLOCKS; block += 1) blocks.push(await runBlock(site, controller, raw, block));
  const middle = (of: (block: Block) => number) => median(blocks.map(of));
  const shares = blocks.map(({ perSecond, rawPerSecond }) => perSecond / rawPerSecond);
  const distinct = Math.min(...blocks.map((block) => block.distinct));
  const [records, statuses, metadata] = [
    middle((it) => it.records),
    middle((it) => it.statuses),
    middle((it) => it.metadata),
  ];
  const spread = `${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)}`;
  printTable(
    `${ALLOCATIONS} IPAllocations at once on ${ALLOCATIONS} addresses (${BLOCKS} blocks, ${(foreignShare(mark) * 100).toFixed(0)} % foreign CPU)`,
    [
      { what: 'distinct addresses', value: `${distinct}`, limit: `${ALLOCATIONS}`, isMet: distinct === ALLOCATIONS },
      {
        what: 'Allocated a second',
        value: `${middle((it) => it.perSecond).toFixed(0)}/s, raw creates ${middle((it) => it.rawPerSecond).toFixed(0)}/s`,
        against: `${median(shares).toFixed(2)} × raw (${spread})`,
        limit: `at least ${LEAST_OF_RAW} ×`,
        isMet: median(shares) >= LEAST_OF_RAW,
      },
      { what: 'record writes each', value: records.toFixed(2), limit: 'one', isMet: records <= 1.01 },
      { what: 'status writes each', value: statuses.toFixed(2), limit: 'two', isMet: statuses <= 2.01 },
      { what: 'metadata writes each', value: metadata.toFixed(2), limit: 'one', isMet: metadata <= 1.01 },
      { what: 'CPU of the controller each', value: `${middle((it) => it.cpuMs).toFixed(2)} ms` },
      stallLineOf(Math.max(...blocks.map(({ stallMs }) => stallMs))),
    ],
  );
  printRenewals();
}

/** Neither side pays for the other: the controller is halted while bare clients write, and while the IPAllocations are made. */
async function runBlock(
  site: ClusterSite,
  controller: ControllerProgram,
  raw: RawClients,
  block: number,
): Promise<Block> {
  const { server } = site;
  const { pid } = controller;
  const names = Array.from({ length: ALLOCATIONS }, (_, at) => `vm-${at}`);
  const all = `${KINDS}/ipallocations`;
  process.kill(pid, 'SIGSTOP');
  const rawPerSecond = ALLOCATIONS / (await raw.create(ALLOCATIONS / 2)).seconds;
  process.kill(pid, 'SIGCONT');
  await site.remove(`${RECORDS}?labelSelector=ipledger.io%2Fpool%3D${RAW_POOL}`);
  await untilQuiet(site);

  process.kill(pid, 'SIGSTOP');
  await inFlight(names, IN_FLIGHT, (name) => site.create(all, allocation(`${name}-${block}`, name)));
  const before = readCalls(await server.metrics());
  const cpuBefore = readCpuMs(pid);
  const startedMs = performance.now();
  process.kill(pid, 'SIGCONT');
  // The halt looks like a stall: what is measured begins anew here.
  await longestStallMs(controller);
  // A list of all of them costs the API server as much as many writes.
  while ((await countObjects(site, RECORDS)) < ALLOCATIONS) await sleep(LOOK_EVERY_MS);
  let served: readonly string[] = [];
  while (served.length < ALLOCATIONS) {
    served = await addresses(site);
    if (served.length < ALLOCATIONS) await sleep(LOOK_EVERY_MS);
  }
  const perSecond = ALLOCATIONS / ((performance.now() - startedMs) / 1_000);
  const cpuMs = (readCpuMs(pid) - cpuBefore) / ALLOCATIONS;
  const stallMs = await longestStallMs(controller);
  await sleep(SETTLE_MS);
  const after = readCalls(await server.metrics());
  const each = (calls: RegExp) =>
    [...after]
      .filter(([call]) => calls.test(call))
      .reduce((sum, [call, count]) => sum + count - (before.get(call) ?? 0), 0) / ALLOCATIONS;
  await site.remove(all);
  while ((await countObjects(site, all)) > 0) await sleep(LOOK_EVERY_MS);
  await untilQuiet(site);
  return {
    rawPerSecond,
    perSecond,
    cpuMs,
    distinct: new Set(served).size,
    records: each(/^(POST|PUT|PATCH) iprecords /),
    statuses: each(/^(PUT|PATCH) ipallocations\/status /),
    metadata: each(/^(PUT|PATCH) ipallocations /),
    stallMs,
  };
}

/** Until the controller has written all that it had to write about the objects of Vitistack. */
async function untilQuiet({ server }: ClusterSite): Promise<void> {
  const writes = async () =>
    [...readCalls(await server.metrics())]
      .filter(([call]) =>
        /^(POST|PUT|PATCH|DELETE) (networkconfigurations|networknamespaces|ipallocations|iprecords)/.test(call),
      )
      .reduce((sum, [, count]) => sum + count, 0);
  for (let last = -1; ; ) {
    const now = await writes();
    if (now === last) return;
    last = now;
    await sleep(QUIET_MS);
  }
}

/** On virtual time: all were made at the same second, and each renews at its own moments. */
function printRenewals(): void {
  const startMs = Date.parse('2026-05-19T09:00:00Z');
  const counts = new Map<number, number>();
  for (let at = 0; at < RENEWALS; at += 1) {
    const stored = new Date(startMs + TTL_SECONDS * 1_000).toISOString();
    const evenSince = new Date(startMs);
    const { dueInMs } = planExpiry({
      stored,
      ttlSeconds: TTL_SECONDS,
      uid: `uid-${at}`,
      evenSince,
      now: evenSince,
    });
    const second = Math.floor((dueInMs ?? 0) / 1_000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  const busiest = Math.max(...counts.values());
  const evenly = RENEWALS / (TTL_SECONDS / 2);
  printTable(`${RENEWALS} renewals of ${TTL_SECONDS} s that were due together (model)`, [
    {
      what: 'renewals in the busiest second',
      value: `${busiest}`,
      against: `evenly ${evenly.toFixed(1)}`,
      limit: 'at most 5 × evenly',
      isMet: busiest <= 5 * evenly,
    },
  ]);
}

/** Two bare clients with the controller's token. */
async function startRaw({ server }: ClusterSite): Promise<RawClients> {
  const token = await plainToken(server, 'ipledger-controller');
  const { containerID: _c, netns: _n, network: _w, ...holder } = buildRecord().spec.holder;
  // Of another kind: the controller would look for IPAllocations that do not exist.
  const pool = { kind: 'SpiderIPPool', name: RAW_POOL, uid: 'bench' } as const;
  const own = { ...holder, kind: 'IPAddressClaim', name: 'raw', node: '', interface: '' } as const;
  const model = { ...buildRecord().spec, pool, holder: own };
  const client = { name: '', token };
  return RawClients.start(server, [client, client], [model], RAW_ADDRESSES);
}

async function addresses({ server }: ClusterSite): Promise<string[]> {
  const { body } = await callApi(server, { path: `${KINDS}/ipallocations`, token: server.adminToken });
  return (body as Listed).items.flatMap(({ status }) => (status?.phase === 'Allocated' ? (status.address ?? []) : []));
}

function allocation(name: string, configuration: string): object {
  return {
    apiVersion: 'vitistack.io/v1alpha2',
    kind: 'IPAllocation',
    metadata: { name },
    spec: { networkNamespaceName: 'prod-network', networkConfigurationName: configuration, interfaceName: 'eth0' },
  };
}

function network(): object {
  const block = {
    ipv4CIDR: '10.1.0.0/16',
    ipv4Gateway: '10.1.0.1',
    ipv4RangeStart: '10.1.0.10',
    ipv4RangeEnd: '10.1.3.241',
    ttlSeconds: TTL_SECONDS,
  };
  return {
    apiVersion: 'vitistack.io/v1alpha2',
    kind: 'NetworkNamespace',
    metadata: { name: 'prod-network' },
    spec: {
      datacenterIdentifier: 'dc-01',
      supervisorIdentifier: 'sv-01',
      ipAllocation: { type: 'static', provider: 'static-ip-operator', static: block },
    },
  };
}
