import { draftClaimRecord, isRecordOfClaim } from '#pkg/capi/claim-record.ts';
import { type InClusterPool, readInClusterPool, spiderPoolName, toSpiderPool } from '#pkg/capi/in-cluster-pool.ts';
import { type MachineAddress, readIpAddress } from '#pkg/capi/read-ip-address.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { GLOBAL_IN_CLUSTER_POOLS, IN_CLUSTER_POOLS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { createRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { describeHolder, type IpRecord, type RecordSpec } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';

export interface InClusterImport {
  readonly dryRun: boolean;
  /** The SpiderIPPool, as it was made or would be. */
  readonly pool: {
    readonly name: string;
    readonly ranges: readonly string[];
    readonly wasThere: boolean;
    /** The gateway of the old pool, if it is outside of the subnet: ours has none then. */
    readonly leftOutGateway: string | null;
  };
  /** The records that were made or would be: one for each IPAddress. */
  readonly records: readonly RecordSpec[];
  /** IPAddresses that get no record, with the reason. */
  readonly collisions: readonly string[];
}

interface InClusterWish {
  readonly name: string;
  /** Absent: a GlobalInClusterIPPool. */
  readonly namespace?: string;
  readonly dryRun: boolean;
}

const PATIENCE_MS = 60_000;
const LONGEST_LIST = 5;

/**
 * Makes a disabled SpiderIPPool from a pool of the in-cluster provider, and a record for each of its IPAddresses, so that no number
 * that a machine has is given out here. Nothing of the other provider is changed. It can be repeated: what is there stays.
 */
export async function importInCluster(client: KubeClient, wish: InClusterWish): Promise<InClusterImport> {
  const theirs = await readTheirs(client, wish);
  const addresses = await readAddresses(client, theirs);
  const draft = toSpiderPool(theirs);
  const there = await client.get(POOLS, { name: draft.metadata.name });
  if (!there.ok && there.because !== 'NotFound') throw toLedgerError(`read pool ${draft.metadata.name}`, there);
  const pool = there.ok ? decodePool(there.object) : await makePool(client, theirs, wish.dryRun);
  const { records, collisions } = planRecords(pool, addresses);
  const made: RecordSpec[] = [];
  for (const spec of records) {
    const { isNew, holder } = wish.dryRun ? await lookAt(client, spec) : await record(client, spec);
    if (isNew) made.push(spec);
    else if (holder !== null) {
      collisions.push(`${spec.address} of ${spec.holder.namespace}/${spec.holder.name} is held by ${holder}`);
    }
  }
  const { leftOutGateway: gateway } = theirs;
  const leftOutGateway = gateway === null ? null : formatAddress(gateway);
  const ranges = (draft['spec'] as { readonly ips: readonly string[] }).ips;
  return {
    dryRun: wish.dryRun,
    pool: { name: pool.name, ranges: ranges.slice(0, LONGEST_LIST), wasThere: there.ok, leftOutGateway },
    records: made,
    collisions,
  };
}

/** What a create would find. */
async function lookAt(client: KubeClient, spec: RecordSpec) {
  const there = await openKubernetesLedger(client).get(nameOf(spec));
  return { isNew: there === null, holder: there === null ? null : holderBeside(spec, there) };
}

async function record(client: KubeClient, spec: RecordSpec) {
  const { taken, record: there } = await createRecord(client, spec, {
    deadlineMs: client.timing.nowMs() + PATIENCE_MS,
  });
  return { isNew: taken, holder: taken ? null : there === null ? 'another holder' : holderBeside(spec, there) };
}

/** Null: it is the record of this very claim, from an earlier import. */
function holderBeside({ holder, pool }: RecordSpec, there: IpRecord): string | null {
  const { namespace, name, uid } = holder;
  return isRecordOfClaim(there, { namespace, name, pool: pool.name, ...(uid === undefined ? {} : { uid }) })
    ? null
    : describeHolder(there);
}

function nameOf({ address, domain }: RecordSpec): string {
  return recordName(parseAddress(address), domain);
}

async function readTheirs(client: KubeClient, { name, namespace }: InClusterWish): Promise<InClusterPool> {
  const kind = namespace === undefined ? GLOBAL_IN_CLUSTER_POOLS : IN_CLUSTER_POOLS;
  const found = await client.get(kind, { name, ...(namespace === undefined ? {} : { namespace }) });
  if (found.ok) return readInClusterPool(found.object, kind.kind);
  const other = namespace === undefined ? '; for an InClusterIPPool say --namespace' : '';
  if (found.because === 'NotFound' || found.because === 'NotServed') {
    throw new IpamError('bad-input', `there is no ${kind.kind} ${name}${other}`);
  }
  throw toLedgerError(`read ${kind.kind} ${name}`, found);
}

async function readAddresses(client: KubeClient, { kind, name, namespace }: InClusterPool): Promise<MachineAddress[]> {
  const listed = await client.list(IP_ADDRESSES, namespace === null ? {} : { namespace });
  if (!listed.ok) throw toLedgerError('list the IPAddresses', listed);
  const isOfPool = ({ spec }: KubeObject) => {
    const poolRef = isMap(spec) ? spec['poolRef'] : null;
    return (
      isMap(poolRef) &&
      poolRef['apiGroup'] === IP_ADDRESSES.group &&
      poolRef['kind'] === kind &&
      poolRef['name'] === name
    );
  };
  return listed.object.items.filter(isOfPool).flatMap((object) => readIpAddress(object) ?? []);
}

async function makePool(client: KubeClient, theirs: InClusterPool, dryRun: boolean): Promise<Pool> {
  const draft = toSpiderPool(theirs);
  const { apiVersion, kind } = { apiVersion: `${POOLS.group}/${POOLS.version}`, kind: POOLS.kind };
  // Nothing is written before it is known that it can be read.
  const planned = decodePool({ apiVersion, kind, ...draft, metadata: { ...draft.metadata, uid: 'planned' } });
  if (dryRun) return planned;
  const created = await client.create(POOLS, draft);
  if (!created.ok) throw toLedgerError(`create pool ${spiderPoolName(theirs)}`, created);
  return decodePool({ apiVersion, kind, ...created.object });
}

/** An IPAddress that is outside of the ranges is in use all the same. */
function planRecords(pool: Pool, addresses: readonly MachineAddress[]) {
  const records: RecordSpec[] = [];
  const collisions: string[] = [];
  for (const { namespace, name, address, claim, claimUid } of addresses) {
    if (address === null || claim === null) {
      collisions.push(`IPAddress ${namespace}/${name} names no address or no claim`);
    } else if (
      address.family !== pool.family ||
      address.value < pool.subnet.first ||
      address.value > pool.subnet.last
    ) {
      collisions.push(`${formatAddress(address)} of IPAddress ${namespace}/${name} is outside of the subnet`);
    } else {
      const identity = { namespace, name: claim, ...(claimUid === null ? {} : { uid: claimUid }) };
      records.push(draftClaimRecord(pool, address, identity));
    }
  }
  return { records, collisions };
}
