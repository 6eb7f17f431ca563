import type { ReachedCluster } from '#test/real-cluster/cluster-place.ts';

/** The log lines of the node's agents about DELs of a sandbox that they have handled, be it from the plugin or its spool. */
export async function delsAt(cluster: ReachedCluster, node: string, containerID: string): Promise<readonly object[]> {
  const files = '/var/log/pods/ipledger_ipledger-agent-*/agent/*.log';
  const lines = (await cluster.runIn(node, `grep --no-filename ${containerID} ${files} || true`)).split('\n');
  const entries = lines.filter((line) => line.includes('{')).map((line) => JSON.parse(line.slice(line.indexOf('{'))));
  return entries.filter(({ msg }) => msg === 'DEL' || msg === 'spooled DEL applied');
}
