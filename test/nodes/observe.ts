import type { ReachedCluster } from '#test/real-cluster/cluster-place.ts';
import { findFaults, type Observation, placeOf, type SeenSandbox } from '#test/real-cluster/referee.ts';
import type { KubeCalls, Pod, Record } from './kube-calls.ts';

/** Every network namespace of the runtime with its global addresses, as one JSON document a line. */
const LIST_SANDBOXES = `
for file in /run/netns/*; do
  # A runtime that was killed may leave a file that is no namespace.
  [[ $(stat --file-system --format=%T "$file" 2>/dev/null) == nsfs ]] || continue
  printf '{"file":"%s","links":%s}\\n' "$file" "$(nsenter --net="$file" ip -json address show scope global)"
done`;

interface Line {
  readonly file: string;
  readonly links: readonly { readonly ifname?: string; readonly addr_info?: readonly { readonly local?: string }[] }[];
}

/** Records first and last: what changes in between is looked at again by the caller. */
export async function observeFaults(
  cluster: ReachedCluster,
  kube: KubeCalls,
  nodes = cluster.nodes,
): Promise<string[]> {
  const [pods, records, ...sandboxes] = await Promise.all([
    kube.list<Pod>('/api/v1/pods'),
    kube.list<Record>('/apis/ipledger.io/v1alpha1/iprecords'),
    ...nodes.map((node) => listSandboxes(cluster, node)),
  ]);
  const watched = (node: string | undefined) => node !== undefined && nodes.includes(node);
  const observation: Observation = {
    pods: pods
      .filter(isAttached)
      .filter(({ spec }) => watched(spec.nodeName))
      .map(seePod),
    records: records.filter(({ spec }) => spec.state !== 'Allocated' || watched(spec.holder.node)).map(seeRecord),
    sandboxes: sandboxes.flat(),
  };
  return findFaults(observation);
}

async function listSandboxes(cluster: ReachedCluster, node: string): Promise<SeenSandbox[]> {
  const lines = (await cluster.runIn(node, LIST_SANDBOXES)).split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { file, links } = JSON.parse(line) as Line;
    const addresses = links.flatMap(({ ifname = '', addr_info = [] }) =>
      // Of an address outside the scope `ip` prints an empty object.
      addr_info.flatMap(({ local }) => (local === undefined ? [] : [[ifname, local] as const])),
    );
    return { place: placeOf(node, file), addresses };
  });
}

/** A pod that has ended has no address any more; that its object is still there says nothing. */
const isAttached = ({ spec, status, metadata }: Pod) =>
  spec.hostNetwork !== true && status.phase === 'Running' && metadata.deletionTimestamp === undefined;

const seePod = ({ metadata, status }: Pod) => ({
  name: `${metadata.namespace}/${metadata.name}`,
  uid: metadata.uid,
  addresses: (status.podIPs ?? []).map(({ ip }) => ip),
});

const seeRecord = ({ spec }: Record) => ({
  address: spec.address,
  state: spec.state,
  uid: spec.holder.uid,
  interface: spec.holder.interface ?? '',
  place: placeOf(spec.holder.node ?? '', spec.holder.netns ?? ''),
});
