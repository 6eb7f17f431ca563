import type { Holder, RecordSpec } from '#pkg/record/ip-record.ts';
import { recordLabels } from '#pkg/record/record-metadata.ts';
import { type ControllerProgram, startControllerProgram } from '#test/integration/controller-program.ts';
import { callApi } from '#test/support/api-request.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { type BenchPod, type ClusterSite, inFlight } from './cluster-site.ts';
import { BareClient } from './kube-subject.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const RENEW_EVERY_MS = 2_000;
const CREATES_IN_FLIGHT = 32;

export function startController(
  { server }: ClusterSite,
  env: Readonly<Record<string, string>>,
): Promise<ControllerProgram> {
  return startControllerProgram({ cluster: { server } }, 'bench', env);
}

/** A node that is Ready and renews its lease until it is disposed. */
export async function keepNodeWell(site: ClusterSite, name: string): Promise<AsyncDisposable> {
  const { server } = site;
  const send = async (method: string, path: string, body: unknown) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return await callApi(server, { method, path, body, type, token: server.adminToken });
  };
  const conditions = [{ type: 'Ready', status: 'True' }];
  await send('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } });
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'kube-node-lease' } });
  const spec = () => ({ holderIdentity: name, renewTime: new Date().toISOString().replace('Z', '000Z') });
  await send('POST', LEASES, { metadata: { name }, spec: spec() });
  const timer = setInterval(
    () => void send('PATCH', `${LEASES}/${name}`, { spec: spec() }).catch(() => {}),
    RENEW_EVERY_MS,
  );
  return { [Symbol.asyncDispose]: async () => clearInterval(timer) };
}

interface RecordsWish {
  readonly net: number;
  readonly node: string;
  readonly pool: string;
  readonly owner?: Holder['owner'];
}

/** One record per pod, 10.<net>.0.0 and on, as an agent writes them. */
export async function createRecords(
  { server }: ClusterSite,
  { net, node, pool, owner }: RecordsWish,
  pods: readonly BenchPod[],
): Promise<void> {
  using client = await BareClient.open(server, server.adminToken);
  await inFlight([...pods.entries()], CREATES_IN_FLIGHT, async ([at, { name, uid }]) => {
    const address = `10.${net}.${at >> 8}.${at & 255}`;
    const holder = {
      kind: 'Pod',
      namespace: 'default',
      name,
      uid,
      interface: 'eth0',
      network: 'macvlan-conf',
      containerID: uid.replaceAll('-', '').padEnd(64, '0').slice(0, 64),
      netns: `/var/run/netns/cni-${uid}`,
      attachGeneration: 1,
      node,
      ...(owner === undefined ? {} : { owner, sticky: true }),
    } as const;
    const spec: RecordSpec = {
      ...buildRecord({ address, prefix: 8, holder }).spec,
      pool: { kind: 'SpiderIPPool', name: pool, uid: 'bench' },
    };
    await client.createRecord({ metadata: { name: address, labels: recordLabels(spec) }, spec });
  });
}

export async function countObjects({ server }: ClusterSite, path: string): Promise<number> {
  const { body } = await callApi(server, { path: `${path}?limit=1`, token: server.adminToken });
  const { items, metadata } = body as { items: object[]; metadata: { remainingItemCount?: number } };
  return items.length + (metadata.remainingItemCount ?? 0);
}
