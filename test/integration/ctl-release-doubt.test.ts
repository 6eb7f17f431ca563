import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Holder, IpRecord, RecordState } from '#pkg/record/ip-record.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { type PodCluster, startPodCluster } from './pod-cluster.ts';

const ADDRESS = '10.0.0.10';
const NODE = 'worker-7';

let cluster: PodCluster;
let ledger: Ledger;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.50'] });
  ledger = openKubernetesLedger(cluster.ledger.controller());
  const { server } = cluster.ledger;
  kubeconfig = join(server.dir, 'doubt.yaml');
  const adminToken = await plainToken(server, 'ipledger-ctl');
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
});
afterAll(async () => {
  await ledger.close();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

/** With the rights of the role `ipledger-ctl` and no others. */
async function ctl(...args: string[]) {
  const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-16T10:00:00Z') });
  const code = await runCtl([...args, '--kubeconfig', kubeconfig], {}, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const release = (...args: string[]) => ctl('release', ADDRESS, '--yes', ...args);

async function write(address: string, state: RecordState, holder: Partial<Holder> = {}): Promise<IpRecord> {
  const spec = heldBy(specOf(address), { node: NODE, ...holder });
  return await amended(ledger, await taken(ledger, spec), inState(spec, state));
}

async function makeNode(spec: Readonly<Record<string, unknown>> = {}): Promise<AsyncDisposable> {
  await cluster.post('/api/v1/nodes', { metadata: { name: NODE }, spec });
  return { [Symbol.asyncDispose]: () => cluster.remove(`/api/v1/nodes/${NODE}`) };
}

const names = async () => (await cluster.records()).map(({ name }) => name).toSorted();

test.each(['Suspect', 'Retained', 'Allocated'] as const)(
  'an address that is %s, whose pod was deleted by force, is released without proof on an explicit word only',
  async (state) => {
    await using _ = await makeNode();
    const pod = await cluster.createPod({ name: 'web-0', node: NODE });
    await write(ADDRESS, state, pod);
    await cluster.deletePod(pod);
    const refused = await release();
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(
      `${ADDRESS} is not released: no living pod has it, and its sandbox on node ${NODE} is not proven gone`,
    );
    expect(refused.stderr).toContain(`Look on node ${NODE}: "ipledgerctl gc --dry-run"`);
    expect(await names()).toEqual([ADDRESS]);
    expect(await release('--although-in-doubt')).toMatchObject({ code: 0 });
    expect(await names()).toEqual([]);
  },
);

test.each(['Suspect', 'Retained'] as const)(
  'an address that is %s while its pod is alive is not released, whatever is said',
  async (state) => {
    await using _ = await makeNode();
    const pod = await cluster.createPod({ name: 'web-1', node: NODE });
    await write(ADDRESS, state, pod);
    const { code, stderr } = await release('--although-in-doubt');
    expect([code, stderr]).toEqual([2, expect.stringContaining(`pod default/web-1 is alive on node ${NODE}`)]);
    expect(await names()).toEqual([ADDRESS]);
    await cluster.deletePod(pod);
  },
);

test('an address of a node that is out of service is released', async () => {
  await using _ = await makeNode({ taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] });
  await write(ADDRESS, 'Suspect');
  expect(await release()).toMatchObject({ code: 0 });
  expect(await names()).toEqual([]);
});

test('an address of a node that has other taints is not', async () => {
  await using _ = await makeNode({ taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] });
  await write(ADDRESS, 'Suspect');
  expect((await release()).stderr).toContain('not proven gone');
  expect(await names()).toEqual([ADDRESS]);
});

test('an address whose Node object is gone is released', async () => {
  await write(ADDRESS, 'Suspect');
  expect(await release()).toMatchObject({ code: 0 });
  expect(await names()).toEqual([]);
});

test('an address whose record names no node is in doubt for ever, and the refusal names no node', async () => {
  await write(ADDRESS, 'Suspect', { node: '' });
  const { code, stderr } = await release();
  expect([code, stderr]).toEqual([2, expect.stringContaining('and its sandbox is not proven gone')]);
  expect(stderr).not.toContain('Look on node');
});

test('an address that waits for the next pod, and is not in doubt, is released while its node is well', async () => {
  await using _ = await makeNode();
  const kept = await write(ADDRESS, 'Retained');
  const { uid: _uid, containerID: _containerID, ...holder } = kept.spec.holder;
  await amended(ledger, kept, { ...kept.spec, holder });
  expect(await release()).toMatchObject({ code: 0 });
});

test('from the report to the release, while records change: each line has its own outcome', async () => {
  await using _ = await makeNode();
  const of = (last: number) => `10.0.0.${last}`;
  await write(of(20), 'Suspect', { name: 'lost', node: 'worker-8' });
  await write(of(21), 'Suspect', { name: 'in-doubt' });
  await write(of(22), 'Suspect', { name: 'vouched-for' });
  const renewed = await write(of(23), 'Suspect', { name: 'renewed' });
  const ended = await write(of(24), 'Suspect', { name: 'ended' });
  await write(of(25), 'Suspect', { name: 'kept', node: 'worker-8' });

  const report = await ctl('check', '-o', 'report');
  expect(report.code).toBe(1);
  expect(report.stdout).toContain('# "release-in-doubt" releases it without proof.');
  // Its own agent sees the sandbox, after the operator has looked.
  await amended(ledger, renewed, heldBy(renewed.spec, { attachGeneration: 2 }));
  await ledger.release(ended);

  const directory = await mkdtemp(join(tmpdir(), 'ipl-report-'));
  await using _directory = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
  const file = join(directory, 'report');
  const marked = report.stdout
    .replaceAll(/^keep( +10\.0\.0\.(?:20|21|24) )/gm, 'release$1')
    .replaceAll(/^keep( +10\.0\.0\.(?:22|23) )/gm, 'release-in-doubt$1');
  await writeFile(file, marked);

  const { code, stdout } = await ctl('release', '--from-report', file, '--yes');
  expect(code).toBe(1);
  expect(stdout.split('\n')).toEqual([
    `Released ${of(20)}.`,
    expect.stringMatching(
      /^Not released: 10\.0\.0\.21: .* on node worker-7 is not proven gone\. Look on node worker-7/,
    ),
    `Released ${of(22)}.`,
    `Not released: ${of(23)}: it has changed since the report; make a new one`,
    `Not released: ${of(24)}: it is gone already`,
    '2 of 5 released.',
    '',
  ]);
  expect(await names()).toEqual([of(21), of(23), of(25)]);
});
