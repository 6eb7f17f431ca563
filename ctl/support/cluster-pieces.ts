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
/** The settings, and the marker that lets agents begin. Other ConfigMaps of the namespace are not ours. */
const OWN_CONFIG_MAPS = /^(spiderpool-conf|ipledger-adopted)$/;
const REPORTERS = ['ipledger.io/agent', 'ipledger.io/controller'];

/** Everything that a question about this cluster needs, and no Secret. */
export async function clusterPieces(cluster: Cluster): Promise<Piece[]> {
  const { client, admin, namespace } = cluster;
  const pods = await client.list(PODS, { namespace, labelSelector: OWN_PODS });
  const chosen = pods.ok ? choosePods(pods.object.items) : [];
  const listed = (path: string, resource: Resource, query: ListQuery = {}, keep: Keep = () => true): Piece => ({
    path,
    read: async () => toJsonText((await items(client, resource, query)).filter(keep).map(redact)),
  });
  return [
    { path: 'versions/api-server.txt', read: async () => `${sure(await client.version())}\n` },
    listed('settings/config-maps.json', CONFIG_MAPS, { namespace }, ({ metadata }) =>
      OWN_CONFIG_MAPS.test(metadata.name),
    ),
    listed('workloads/deployments.json', DEPLOYMENTS, { namespace }),
    listed('workloads/daemon-sets.json', DAEMON_SETS, { namespace }),
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

/** Both daemons have the component in their labels, and a name that begins alike. */
const OWN_PODS = 'app.kubernetes.io/component in (agent,controller)';

type Keep = (object: KubeObject) => boolean;

function piecesOfPod(
  { client, namespace }: Cluster,
  { name, containers, restarted, isController }: ChosenPod,
): Piece[] {
  const short = name.slice(-60);
  const log = (container: string, previous: boolean): Piece => ({
    path: `logs/${short}.${container.slice(0, 20)}${previous ? '.previous' : ''}.log`,
    read: async () => {
      const limits = { container, previous, tailLines: LOG_LINES, limitBytes: LOG_BYTES };
      return sure(await client.text(PODS, { namespace, name }, 'log', limits));
    },
  });
  const port = isController ? 5721 : 5711;
  return [
    ...containers.map((container) => log(container, false)),
    ...restarted.map((container) => log(container, true)),
    {
      path: `metrics/${short}.txt`,
      read: async () => sure(await client.text(PODS, { namespace, name: `${name}:${port}` }, 'proxy/metrics')),
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
