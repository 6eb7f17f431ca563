import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFailed, test, vi } from 'vitest';
import { readControllerEnv } from '#controller/controller-env.ts';
import { startController } from '#controller/start-controller.ts';
import { decodeClusterConfig } from '#pkg/config/decode-cluster-config.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const SETTLE_SECONDS = 20;
/** The agents' part of a restore is in agent-lost-records.test.ts. */
const MINUTE = { timeout: 60_000, interval: 200 };

interface PoolObject {
  readonly metadata: { readonly finalizers?: string[]; readonly deletionTimestamp?: string };
  readonly status?: { readonly totalIPCount?: number; readonly allocatedIPCount?: number };
}

async function runReplica(cluster: PodCluster, identity: string) {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const { env } = readControllerEnv({
    IPLEDGER_POD_NAME: identity,
    IPLEDGER_POD_NAMESPACE: 'ipledger',
    IPLEDGER_ENABLED_METRIC: 'false',
    IPLEDGER_HEALTH_PORT: String(await findFreePort()),
    IPLEDGER_GC_SETTLE_DURATION: String(SETTLE_SECONDS),
  });
  const { config } = decodeClusterConfig({});
  const loadAccess = cluster.ledger.controllerAccess();
  const claimScope = { namespace: null, watchFilter: null };
  const controller = await startController({ config, env, loadAccess, servesWebhook: false, claimScope }, log);
  onTestFailed(() => void process.stderr.write(`The log of the controller ${identity}:\n${lines.join('')}\n`));
  const says = (text: string) => lines.some((line) => line.includes(text));
  return { says, [Symbol.asyncDispose]: () => controller[Symbol.asyncDispose]() };
}

test.each([
  { name: 'without a revision bump', bumpBy: 0 },
  { name: 'with one', bumpBy: 5_000 },
])(
  'after a restore of etcd $name the controller goes on by itself, and gives agents their minute',
  async ({ bumpBy }) => {
    await using cluster = await startPodCluster();
    await using leader = await runReplica(cluster, 'one');
    await using standby = await runReplica(cluster, 'two');
    const pool = (name: string) => cluster.read<PoolObject>(`${POOLS}/${name}`);
    const untilStatus = (name: string, status: PoolObject['status']) =>
      vi.waitFor(async () => expect((await pool(name)).status).toMatchObject({ ...status }), MINUTE);

    await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.13'], default: true });
    await untilStatus('pool-a', { totalIPCount: 4 });
    const pod = await cluster.createPod({ name: 'late' });
    await cluster.ledger.server.saveStore();
    // None of this is in the backup.
    for (let at = 0; at < 300; at += 1) {
      await vi.waitUntil(
        () => isDone(cluster.post('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'x-' } })),
        MINUTE,
      );
    }
    await using first = await startAgentOf(cluster);
    await vi.waitUntil(async () => (await first.tryAdd(pod)).status === 200, MINUTE);
    const [address] = await first.addressesOf(pod);
    await untilStatus('pool-a', { allocatedIPCount: 1 });
    await first.stop();

    await cluster.ledger.server.restoreStore(bumpBy);
    expect(await cluster.records()).toEqual([]);
    // The pool looks unused until the agent is back.
    await cluster.remove(`${POOLS}/pool-a`);
    await vi.waitUntil(() => [leader, standby].some((it) => it.says('was restored from a backup')), MINUTE);
    await cluster.createPool('pool-b', { subnet: '10.1.0.0/24', ips: ['10.1.0.10'] });
    await untilStatus('pool-b', { totalIPCount: 1 });
    await using again = await startAgentOf(cluster, { directory: first.directory });
    await again.untilReady();
    expect((await cluster.records()).map(({ name }) => name)).toEqual([address]);
    await wait((SETTLE_SECONDS + 5) * 1_000);
    const { metadata } = await pool('pool-a');
    expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: [expect.any(String)] });
  },
);

async function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
