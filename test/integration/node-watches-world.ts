import { pino } from 'pino';
import { PodCache } from '#agent/cluster/pod-cache.ts';
import { PodHolders } from '#agent/cluster/pod-holders.ts';
import { NamespaceCache, NodeLabels, TopController } from '#agent/cluster/pod-surroundings.ts';
import { PoolCache } from '#agent/cluster/pool-cache.ts';
import { describeNetnsOn } from '#agent/node/netns-evidence.ts';
import { OwnerVerifier } from '#agent/owners/owner-verifier.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, NewObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { sumCounter } from '#test/support/api-metrics.ts';
import type { ApiServer } from '#test/support/api-server.ts';

export const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };

export interface Eyes extends AsyncDisposable {
  readonly pods: PodCache;
  readonly namespaces: NamespaceCache;
  readonly pools: PoolCache;
  readonly holders: PodHolders;
}

const SWITCHES = { enableStatefulSet: true, enableKubevirtStaticIP: true };

/** All watches of an agent on `worker-1`. */
export async function openEyes(client: KubeClient): Promise<Eyes> {
  await using stack = new AsyncDisposableStack();
  const log = pino({ level: 'silent' });
  const node = 'worker-1';
  const pods = stack.use(new PodCache(client, { node, log }));
  const namespaces = stack.use(new NamespaceCache(client, log));
  const nodeLabels = stack.use(new NodeLabels(client, node, log));
  const pools = stack.use(new PoolCache(client, log));
  await Promise.all([pods.synced, namespaces.synced, nodeLabels.synced, pools.synced]);
  const holders = new PodHolders(
    {
      pods,
      namespaces,
      nodeLabels,
      controllers: new TopController(client),
      owners: new OwnerVerifier(
        (resource, at) => client.get(resource, at),
        SWITCHES,
        () => performance.now(),
      ),
      index: { ofHolderUid: () => [] },
      onRefused: () => {},
    },
    {
      ...SWITCHES,
      node,
      multusNamespace: 'ipledger',
      multusClusterNetwork: null,
      describeNetns: describeNetnsOn({ bootID: 'boot-1', machineID: 'machine-1' }),
    },
  );
  const everything = stack.move();
  return { pods, namespaces, pools, holders, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

/** Reads of what an agent looks at, by the count of the API server itself; kinds without any are left out. */
export async function readsDuring(server: ApiServer, act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await countReads(server);
  await act();
  const after = await countReads(server);
  const made = [...after].map(([plural, count]) => [plural, count - (before.get(plural) ?? 0)] as const);
  return Object.fromEntries(made.filter(([, count]) => count > 0));
}

const LOOKED_AT = ['pods', 'namespaces', 'nodes', 'replicasets', 'jobs', 'spiderippools', 'spiderreservedips'];

async function countReads(server: ApiServer): Promise<Map<string, number>> {
  const metrics = await server.metrics();
  const count = (resource: string, verb: string) => sumCounter(metrics, 'apiserver_request_total', { resource, verb });
  return new Map(LOOKED_AT.map((plural) => [plural, count(plural, 'GET') + count(plural, 'LIST')]));
}

export function newPool(name: string, third: number, more: Partial<NewObject['metadata']> = {}): NewObject {
  const spec = { ipVersion: 4, subnet: `10.${third}.0.0/24`, ips: [`10.${third}.0.10-10.${third}.0.90`] };
  return { metadata: { name, ...more }, spec };
}

export function newPod(name: string, metadata: Partial<NewObject['metadata']> = {}, nodeName = 'worker-1'): NewObject {
  const spec = { nodeName, containers: [{ name: 'main', image: 'main' }] };
  return { metadata: { name, namespace: 'prod', ...metadata }, spec };
}

export const WORKLOAD = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'main' }] } },
};

export async function made(outcome: Promise<Outcome<KubeObject>>): Promise<KubeObject> {
  const answer = await outcome;
  if (!answer.ok) throw new Error(`${answer.because}: ${answer.message}`);
  return answer.object;
}
