import { judgeApplications } from './application-pools.ts';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import { RECORDS, type SeenRecord } from './referee.ts';
import type { Sandboxes } from './sandboxes.ts';
import { isOfMachine, judgeMachines, listMachineWorld } from './settled-machines.ts';

const SPIDER = '/apis/spiderpool.spidernet.io/v2beta1';
const APPS = '/apis/apps/v1/namespaces/prod';

interface Endpoint {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly status: { readonly current: { readonly uid: string; readonly ips: readonly { readonly ipv4?: string }[] } };
}

interface Pool extends ApiObject {
  readonly status?: { readonly allocatedIPCount?: number; readonly allocatedIPs?: string };
}

/** Errors in a settled cluster: leaks, lost records, and projections that disagree with records. Empty means success. */
export async function findDisorder(api: ChaosApi, sandboxes: Sandboxes): Promise<string[]> {
  const records = await api.list<SeenRecord>(RECORDS);
  const sets = await api.list(`${APPS}/statefulsets`);
  const pools = await api.list<Pool>(`${SPIDER}/spiderippools`);
  const deployments = await api.list(`${APPS}/deployments`);
  const replicaSets = await api.list(`${APPS}/replicasets`);
  const pods = await api.list('/api/v1/namespaces/prod/pods');
  const ofPods = records.filter((record) => !isOfMachine(record));
  return [
    ...judgeRecords(ofPods, sandboxes, wantedNames(sets)),
    ...judgePools(records, pools),
    ...judgeApplications({ deployments, statefulSets: sets, replicaSets, pods, pools, live: sandboxes.live() }),
    ...judgeMachines(await listMachineWorld(api, { records, pools })),
    ...judgeEndpoints(ofPods, await api.list<Endpoint>(`${SPIDER}/spiderendpoints`)),
  ];
}

function judgeRecords(records: readonly SeenRecord[], sandboxes: Sandboxes, wanted: ReadonlySet<string>): string[] {
  const live = new Map(sandboxes.live().map((it) => [it.address, it]));
  const shared = [...Map.groupBy(sandboxes.live(), ({ address }) => address)].filter(([, users]) => users.length > 1);
  const leaks = records.filter(({ spec: { address, state, holder } }) => {
    if (state === 'Retained') return !wanted.has(`${holder.namespace}/${holder.name}`);
    return live.get(address)?.uid !== holder.uid;
  });
  const held = new Set(records.filter(({ spec }) => spec.state === 'Allocated').map(({ spec }) => spec.address));
  const lost = [...live.keys()].filter((address) => !held.has(address));
  return [
    ...shared.map(([address, users]) => `${address} is used by ${users.map(({ podKey }) => podKey)}`),
    ...leaks.map(({ spec }) => `leak: ${spec.address} ${spec.state} of ${spec.holder.name} (${spec.holder.uid})`),
    ...lost.map((address) => `${address} is used by ${live.get(address)?.podKey} and has no Allocated record`),
  ];
}

function judgePools(records: readonly SeenRecord[], pools: readonly Pool[]): string[] {
  return pools.flatMap(({ metadata: { name }, status }) => {
    const own = records.filter(({ spec }) => spec.pool.name === name);
    const wanted = own.map(({ spec }) => `${spec.address} ${spec.holder.namespace}/${spec.holder.name}`).sort();
    const entries = Object.entries(JSON.parse(status?.allocatedIPs ?? '{}') as Record<string, { pod: string }>);
    const shown = entries.map(([address, { pod }]) => `${address} ${pod}`).sort();
    const isEqual = status?.allocatedIPCount === own.length && shown.join() === wanted.join();
    return isEqual ? [] : [`pool ${name} shows ${status?.allocatedIPCount}: ${shown}; records are ${wanted}`];
  });
}

function judgeEndpoints(records: readonly SeenRecord[], endpoints: readonly Endpoint[]): string[] {
  const wanted = records.map(({ spec }) => `${spec.holder.namespace}/${spec.holder.name} ${spec.address}`).sort();
  const shown = endpoints
    .flatMap(({ metadata, status }) =>
      status.current.ips.map(({ ipv4 }) => `${metadata.namespace}/${metadata.name} ${ipv4?.split('/')[0]}`),
    )
    .sort();
  return shown.join() === wanted.join() ? [] : [`endpoints show ${shown}; records are ${wanted}`];
}

function wantedNames(sets: readonly ApiObject[]): Set<string> {
  return new Set(
    sets.flatMap(({ metadata: { namespace, name }, spec }) =>
      Array.from({ length: Number(spec?.['replicas'] ?? 1) }, (_, ordinal) => `${namespace}/${name}-${ordinal}`),
    ),
  );
}
