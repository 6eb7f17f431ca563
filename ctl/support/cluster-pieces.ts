import type { AdminClient } from '#ctl/client/admin-client.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CONFIG_MAPS, DAEMON_SETS, DEPLOYMENTS, EVENTS, NODES, PODS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject, ListQuery, Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { POOLS, RESERVED_IPS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { type Piece, toJsonText } from './piece.ts';
import { type ChosenPod, choosePods } from './pod-choice.ts';
import { redact } from './redact.ts';

interface Cluster {
  readonly client: KubeClient;
  readonly admin: AdminClient;
  /** Where agents and controller run. */
  readonly namespace: string;
}

const LOG_LINES = 2_000;
const LOG_BYTES = 1 << 20;
const LIST_MS = 60_000;
/** The settings, and the markers of imports. They are read by name: other ConfigMaps of the namespace are not ours. */
const OWN_CONFIG_MAPS = ['spiderpool-conf', 'ipledger-adopted', 'ipledger-adopted-vitistack'];
const REPORTERS = ['ipledger.io/agent', 'ipledger.io/controller'];

/** Everything that a question about this cluster needs, and no Secret. */
export async function clusterPieces(cluster: Cluster): Promise<Piece[]> {
  const { client, admin, namespace } = cluster;
  const own = { namespace, labelSelector: OWN };
  const pods = await client.list(PODS, own);
  const chosen = pods.ok ? choosePods(pods.object.items) : [];
  const listed = (path: string, resource: Resource, query: ListQuery = {}): Piece => ({
    path,
    read: async () => toJsonText((await items(client, resource, query)).map(redact)),
  });
  return [
    { path: 'versions/api-server.txt', read: async () => `${sure(await client.version())}\n` },
    { path: 'settings/config-maps.json', read: async () => toJsonText((await configMaps(cluster)).map(redact)) },
    listed('workloads/deployments.json', DEPLOYMENTS, own),
    listed('workloads/daemon-sets.json', DAEMON_SETS, own),
    { path: 'workloads/pods.json', read: async () => toJsonText(sure(pods).items.map(redact)) },
    listed('nodes.json', NODES),
    listed('ledger/pools.json', POOLS),
    listed('ledger/subnets.json', SUBNETS),
    listed('ledger/reserved-ips.json', RESERVED_IPS),
    listed('ledger/records.json', IP_RECORDS),
    { path: 'ledger/findings.json', read: async () => toJsonText(await admin.check()) },
    ...REPORTERS.map((reporter) =>
      listed(`events/${reporter.split('/')[1]}.json`, EVENTS, { fieldSelector: `reportingComponent=${reporter}` }),
    ),
    ...chosen.flatMap((pod) => piecesOfPod(cluster, pod)),
  ];
}

/** The labels of both daemons, of their workloads too. Others in the namespace may have an agent or a controller as well. */
const OWN =
  'app.kubernetes.io/name in (ipledger,ipledger-controller),app.kubernetes.io/component in (agent,controller)';

async function configMaps({ client, namespace }: Cluster): Promise<KubeObject[]> {
  const read = await Promise.all(OWN_CONFIG_MAPS.map((name) => client.get(CONFIG_MAPS, { namespace, name })));
  return read.filter((it) => it.ok || it.because !== 'NotFound').map(sure);
}

function piecesOfPod({ client, namespace }: Cluster, { name, containers, restarted, metricsPort }: ChosenPod): Piece[] {
  const short = name.slice(-60);
  const log = (container: string, previous: boolean): Piece => ({
    path: `logs/${short}.${container.slice(0, 20)}${previous ? '.previous' : ''}.log`,
    read: async () => {
      const limits = { container, previous, tailLines: LOG_LINES, limitBytes: LOG_BYTES };
      return sure(await client.text(PODS, { namespace, name }, 'log', limits));
    },
  });
  return [
    ...containers.map((container) => log(container, false)),
    ...restarted.map((container) => log(container, true)),
    {
      path: `metrics/${short}.txt`,
      read: async () => {
        if (metricsPort === null) throw new IpamError('bad-config', 'the pod has no port with the name metrics');
        return sure(await client.text(PODS, { namespace, name: `${name}:${metricsPort}` }, 'proxy/metrics'));
      },
    },
  ];
}

async function items(client: KubeClient, resource: Resource, query: ListQuery): Promise<readonly KubeObject[]> {
  return sure(await client.list(resource, query, { timeoutMs: LIST_MS })).items;
}

function sure<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.object;
  throw new IpamError('api-server-unavailable', `${outcome.because}: ${outcome.message}`);
}
