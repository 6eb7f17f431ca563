import { setTimeout as sleep } from 'node:timers/promises';
import { planExpiry } from '#controller/allocation-plan/expiry.ts';
import { callApi } from '#test/support/api-request.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';
import { readCalls } from './cluster-calls.ts';
import { RawClients } from './cluster-raw-clients.ts';
import { ClusterSite, inFlight } from './cluster-site.ts';
import { startController } from './controller-site.ts';
import { stallLine, WITH_STALLS } from './controller-stalls.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { printTable } from './report.ts';
import { median } from './statistics.ts';

const ALLOCATIONS = 1_000;
const IN_FLIGHT = 32;
/** 11.0.0.0 is in no pool. */
const RAW_ADDRESSES = 0x0b000000;
const LEAST_OF_RAW = 0.25;
const NAMESPACE = 'datacenter-01';
const KINDS = `/apis/vitistack.io/v1alpha2/namespaces/${NAMESPACE}`;
const OLD_KINDS = `/apis/vitistack.io/v1alpha1/namespaces/${NAMESPACE}`;
const RENEWALS = 10_000;
const TTL_SECONDS = 3_600;

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
  const names = Array.from({ length: ALLOCATIONS }, (_, at) => `vm-${at}`);
  await inFlight(names, IN_FLIGHT, (name) =>
    site.create(`${OLD_KINDS}/networkconfigurations`, {
      apiVersion: 'vitistack.io/v1alpha1',
      kind: 'NetworkConfiguration',
      metadata: { name },
      spec: { name },
    }),
  );
  const mark = markCpu();
  const rawPerSecond = await rateOfRaw(site);
  await using controller = await startController(site, WITH_STALLS);
  await site.create(`${KINDS}/ipallocations`, allocation('first', 'vm-0'));
  while ((await addresses(site)).length === 0) await sleep(100);
  await site.remove(`${KINDS}/ipallocations/first`);
  while (await exists(site, 'first')) await sleep(100);

  const before = readCalls(await server.metrics());
  const startedMs = performance.now();
  await inFlight(names, IN_FLIGHT, (name) => site.create(`${KINDS}/ipallocations`, allocation(name, name)));
  let served: readonly string[] = [];
  while (served.length < ALLOCATIONS) {
    await sleep(100);
    served = await addresses(site);
  }
  const perSecond = ALLOCATIONS / ((performance.now() - startedMs) / 1_000);
  await sleep(1_000);
  const after = readCalls(await server.metrics());
  const each = (resource: string, verbs: readonly string[]) => {
    const of = (calls: ReadonlyMap<string, number>) =>
      [...calls]
        .filter(([call]) => verbs.some((verb) => call.startsWith(`${verb} ${resource}`)))
        .reduce((sum, [, count]) => sum + count, 0);
    return (of(after) - of(before)) / ALLOCATIONS;
  };
  const records = each('iprecords', ['POST', 'PUT', 'PATCH']);
  const patches = each('ipallocations', ['PATCH', 'PUT']);
  const distinct = new Set(served).size;
  const share = perSecond / rawPerSecond;
  printTable(
    `${ALLOCATIONS} IPAllocations at once on ${ALLOCATIONS} addresses (${(foreignShare(mark) * 100).toFixed(0)} % foreign CPU)`,
    [
      { what: 'distinct addresses', value: `${distinct}`, limit: `${ALLOCATIONS}`, isMet: distinct === ALLOCATIONS },
      {
        what: 'Allocated a second',
        value: perSecond.toFixed(0),
        against: `${share.toFixed(2)} × the raw creates (${rawPerSecond.toFixed(0)} a second)`,
        limit: `at least ${LEAST_OF_RAW} ×`,
        isMet: share >= LEAST_OF_RAW,
      },
      { what: 'record writes each', value: records.toFixed(2), limit: 'one', isMet: records <= 1.01 },
      { what: 'metadata and status writes each', value: patches.toFixed(2), limit: 'three', isMet: patches <= 3.01 },
      await stallLine(controller),
    ],
  );
  printRenewals();
}

/** On virtual time: all were made at the same second, and each renews at its own moments. */
function printRenewals(): void {
  const startMs = Date.parse('2026-05-19T09:00:00Z');
  const counts = new Map<number, number>();
  for (let at = 0; at < RENEWALS; at += 1) {
    const stored = new Date(startMs + TTL_SECONDS * 1_000).toISOString();
    const leadingSince = new Date(startMs);
    const { dueInMs } = planExpiry({
      stored,
      ttlSeconds: TTL_SECONDS,
      uid: `uid-${at}`,
      leadingSince,
      now: leadingSince,
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

/** Two bare clients with the controller's token, the middle one of three rounds. */
async function rateOfRaw({ server }: ClusterSite): Promise<number> {
  const token = await plainToken(server, 'ipledger-controller');
  const { containerID: _c, netns: _n, network: _w, ...holder } = buildRecord().spec.holder;
  const pool = { kind: 'NetworkNamespace', name: `${NAMESPACE}/prod-network`, uid: 'bench' } as const;
  const own = { ...holder, kind: 'IPAllocation', node: '', interface: '' } as const;
  const model = { ...buildRecord().spec, pool, holder: own };
  const client = { name: '', token };
  using raw = RawClients.start(server, [client, client], [model], RAW_ADDRESSES);
  const rates: number[] = [];
  for (let round = 0; round < 3; round += 1) rates.push(ALLOCATIONS / (await raw.create(ALLOCATIONS / 2)).seconds);
  return median(rates);
}

async function addresses({ server }: ClusterSite): Promise<string[]> {
  const { body } = await callApi(server, { path: `${KINDS}/ipallocations`, token: server.adminToken });
  return (body as Listed).items.flatMap(({ status }) => (status?.phase === 'Allocated' ? (status.address ?? []) : []));
}

async function exists({ server }: ClusterSite, name: string): Promise<boolean> {
  return (await callApi(server, { path: `${KINDS}/ipallocations/${name}`, token: server.adminToken })).status === 200;
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
