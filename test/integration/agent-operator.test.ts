import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { type AgentAtWork, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

let cluster: PodCluster;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.50'], default: true });
  const { server } = cluster.ledger;
  kubeconfig = join(server.dir, 'operator.yaml');
  const adminToken = await plainToken(server, 'ipledger-ctl');
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

async function ctl(...args: string[]) {
  const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-16T10:00:00Z') });
  const code = await runCtl(args, {}, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

async function write(address: string, state: RecordState, node: string): Promise<void> {
  const ledger = openKubernetesLedger(cluster.ledger.controller());
  const spec = heldBy(specOf(address), { node });
  await amended(ledger, await taken(ledger, spec), inState(spec, state));
  await ledger.close();
}

const journalOf = ({ directory }: AgentAtWork) => readdir(join(directory, 'data', 'journal'));

test("what the policy keeps from a node's agent is refused there at once, and an operator's own rights release it", async () => {
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const kept: readonly [string, RecordState, string, string][] = [
    ['10.0.0.10', 'Retained', 'worker-1', 'its record is Retained'],
    ['10.0.0.11', 'Cooling', 'worker-1', 'its record is Cooling'],
    ['10.0.0.12', 'Quarantined', 'worker-1', 'its record is Quarantined'],
    ['10.0.0.13', 'Allocated', 'worker-2', 'its record is of node worker-2'],
  ];
  for (const [address, state, node, why] of kept) {
    await write(address, state, node);
    const refused = await ctl('release', address, '--yes', '--socket', agent.socket);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(`${address} is not released: ${why}`);
    expect(refused.stderr).toContain(`ipledgerctl release ${address} --kubeconfig FILE`);
    expect(await journalOf(agent)).toEqual([]);
    expect((await cluster.records()).map(({ name }) => name)).toEqual([address]);
    expect(await ctl('release', address, '--although-in-doubt', '--yes', '--kubeconfig', kubeconfig)).toMatchObject({
      code: 0,
    });
    expect(await cluster.records()).toEqual([]);
  }
});

test("what was on its own node a node's agent releases on an explicit word", async () => {
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  for (const state of ['Allocated', 'Suspect'] as const) {
    await write('10.0.0.10', state, 'worker-1');
    const asked = ['release', '10.0.0.10', '--yes', '--socket', agent.socket];
    const { code, stderr } = await ctl(...asked);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot prove that its sandbox is gone')]);
    expect(await cluster.records()).toHaveLength(1);
    expect(await ctl(...asked, '--although-in-doubt')).toMatchObject({ code: 0 });
    expect(await cluster.records()).toEqual([]);
  }
});

test('check finds a vanished network namespace on its own node, and no other node can', async () => {
  await using own = await startAgentOf(cluster, { node: 'worker-2' });
  await using other = await startAgentOf(cluster, { node: 'worker-1' });
  await own.untilReady();
  await other.untilReady();
  const directory = await mkdtemp(join(tmpdir(), 'ipl-netns-'));
  await using _directory = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
  const netNamespace = join(directory, 'ns1');
  await writeFile(netNamespace, '');
  const pod = await cluster.createPod({ name: 'elsewhere', node: 'worker-2' });
  await own.add(pod, { netNamespace });
  await rm(netNamespace);
  expect(await ctl('check', '--socket', other.socket)).toMatchObject({ code: 0 });
  const found = await ctl('check', '-o', 'json', '--socket', own.socket);
  expect(found.code).toBe(1);
  expect(JSON.parse(found.stdout)).toMatchObject({ findings: [{ kind: 'vanished-netns' }] });
});
