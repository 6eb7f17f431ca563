import { pino } from 'pino';
import { NodeWatches } from '#agent/cluster/node-watches.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';

/**
 * Idle agents in one process: each has its own connection and the same watches as a real agent (pods of its
 * node, the node, namespaces, pools, reserved addresses), opened `AT_ONCE` at a time.
 */
const AT_ONCE = 10;
const [kubeconfig = '', from = '0', count = '0'] = process.argv.slice(2);
const log = pino({ level: 'warn' }, pino.destination(2));
const loadAccess = accessFrom({ from: 'kubeconfig', file: kubeconfig });
const waiting = Array.from({ length: Number(count) }, (_, at) => `idle-${Number(from) + at}`).values();
const open: NodeWatches[] = [];

await Promise.all(Array.from({ length: AT_ONCE }, openAll));
process.send?.('ready');
process.once('disconnect', () => process.exit());

async function openAll(): Promise<void> {
  for (const node of waiting) {
    const client = new KubeClient(loadAccess, { userAgent: `ipledger-agent/${node}` });
    const watches = new NodeWatches(client, { node, namespace: 'ipledger' }, log);
    await watches.open(() => {});
    open.push(watches);
  }
}
