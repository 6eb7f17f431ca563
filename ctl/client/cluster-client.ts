import { toHolderText } from '#ctl/render/holder-text.ts';
import type {
  CheckAnswer,
  PoolSummary,
  PoolsAnswer,
  RecordsAnswer,
  ReleaseAnswer,
  WhoAnswer,
} from '#pkg/agentapi/admin.ts';
import { reservedBy } from '#pkg/crd/reserved-addresses.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Address, formatAddress, parseAddress } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { namesIn } from '#pkg/ledger/kubernetes/kubernetes-table.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { summarizePool, usableAddresses } from '#pkg/record/pool-summary.ts';
import { parseRecordName, recordName } from '#pkg/record/record-metadata.ts';
import { findStoredProblems } from '#pkg/record/record-problems.ts';
import { recordedAddresses } from '#pkg/record/record-value.ts';
import type { AdminClient } from './admin-client.ts';
import { readPools, readRecords } from './cluster-objects.ts';
import { describeSharedRanges, readNetworkPools } from './network-pools.ts';
import { refuseInUse } from './refuse-in-use.ts';
import { findVanishedClaims } from './vanished-claims.ts';

/** Answers what records and pools alone can answer, from the API server and with the rights of the operator. */
export function openClusterClient(client: KubeClient): AdminClient {
  const ledger = openKubernetesLedger(client);
  const agentOnly = async () => {
    throw new IpamError('bad-input', 'only the agent of a node can answer this: run it there');
  };
  return {
    pools: () => summarizePools(client),
    records: (query) => listRecords(client, query),
    who: (address, domain) => findHolders(client, parseAddress(address), domain),
    check: () => checkRecords(client),
    release: async ({ name, uid, resourceVersion, althoughInDoubt }): Promise<ReleaseAnswer> => {
      const seen = await ledger.get(name);
      if (seen === null) return { released: false, because: 'gone' };
      if (seen.uid !== uid || seen.resourceVersion !== resourceVersion) return { released: false, because: 'changed' };
      await refuseInUse(client, seen, althoughInDoubt);
      const outcome = await ledger.release(seen);
      return outcome.done ? { released: true } : { released: false, because: outcome.because };
    },
    explain: agentOnly,
    collect: agentOnly,
  };
}

async function summarizePools(client: KubeClient): Promise<PoolsAnswer> {
  const [pools, records] = [await readPools(client), await readRecords(client)];
  const byPool = Map.groupBy(records.items, ({ spec }) => spec.pool.name);
  const summaries = [...pools.pools.values()].map((pool) =>
    summarize(pool, byPool.get(pool.name) ?? [], pools.reserved[pool.family]),
  );
  return { pools: summaries, problems: [...pools.problems, ...records.problems] };
}

function summarize(pool: Pool, records: readonly IpRecord[], reserved: IntervalSet): PoolSummary {
  const usable = usableAddresses(pool, reserved);
  return summarizePool(pool, usable, usable.subtract(recordedAddresses(pool.family, records)).size);
}

/** Returns all records at once; the requests behind it are paged. */
async function listRecords(
  client: KubeClient,
  { pool, node }: Parameters<AdminClient['records']>[0],
): Promise<RecordsAnswer> {
  const { items } = await readRecords(client);
  if (pool !== undefined && !items.some(({ spec }) => spec.pool.name === pool)) await refuseUnknownPool(client, pool);
  return {
    records: items
      .filter(
        ({ spec }) =>
          (pool === undefined || spec.pool.name === pool) && (node === undefined || spec.holder.node === node),
      )
      .toSorted((a, b) => compareText(a.name, b.name)),
  };
}

async function refuseUnknownPool(client: KubeClient, name: string): Promise<void> {
  const { pools } = await readPools(client);
  if (pools.has(name)) return;
  const known = [...pools.keys()].slice(0, 20).join(', ') || 'none';
  throw new IpamError('unknown-pool', `there is no pool ${name}, and no record of one; pools: ${known}`);
}

async function findHolders(client: KubeClient, address: Address, domain: string | undefined): Promise<WhoAnswer> {
  const { pools, reservedIps } = await readPools(client);
  const contains = (it: Pick<Pool, 'family' | 'addresses'>) =>
    it.family === address.family && it.addresses.contains(address.value);
  const ledger = openKubernetesLedger(client);
  const names = domain === undefined ? await namesOf(client, address) : [recordName(address, domain)];
  const records = await Promise.all(names.map((name) => ledger.get(name)));
  return {
    address: formatAddress(address),
    records: records.filter((it) => it !== null),
    pools: [...pools.values()].filter(contains).map(({ name }) => name),
    reservedBy: reservedBy(reservedIps, address),
    asOfMs: Date.now(),
  };
}

/** The names of the address in all domains, also in domains without pools. */
async function namesOf(client: KubeClient, { family, value }: Address): Promise<string[]> {
  const table = await client.listTable(IP_RECORDS);
  if (!table.ok) throw toLedgerError('list the records', table);
  return namesIn(table.object, undefined).filter((name) => {
    const named = parseRecordName(name)?.address;
    return named?.family === family && named.value === value;
  });
}

async function checkRecords(client: KubeClient): Promise<CheckAnswer> {
  const [pools, records, networks] = [
    await readPools(client),
    await readRecords(client),
    await readNetworkPools(client),
  ];
  const own = (networks ?? []).map((pool) => [pool.name, pool] as const);
  const all = { ...pools, pools: new Map([...pools.pools, ...own]) };
  const judged = records.items.filter(({ spec }) => networks !== null || spec.pool.kind === 'SpiderIPPool');
  const findings = findStoredProblems(judged, all, ({ spec }) => toHolderText(spec.holder));
  const overlaps = describeSharedRanges(networks ?? [], [...pools.pools.values()]).map((message) => ({
    kind: 'overlapping-pools' as const,
    subject: message.split(' ')[1] ?? '',
    message: `${message}; each address is given out only once`,
  }));
  const broken = [...pools.problems, ...records.problems].map((message) => ({
    kind: 'broken-object' as const,
    subject: message.split(':', 1)[0] ?? message,
    message,
  }));
  const vanished = await findVanishedClaims(client, records.items);
  return { recordsChecked: records.items.length, findings: [...findings, ...vanished, ...overlaps, ...broken] };
}
