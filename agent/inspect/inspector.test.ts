import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

const V4 = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.12'], isDefault: true });
const OFF = buildPool({ name: 'off', subnet: '10.0.1.0/24', isDefault: true, isDisabled: true });

test('pools: used, free and total', async () => {
  await using made = await startMemoryAgent([V4]);
  await made.agent.add(addArgs('c1'), newCall());
  const { pools } = await made.agent.inspector.pools();
  expect(pools).toMatchObject([{ name: 'v4', total: '3', used: '1', free: '2', reserved: '0', subnet: '10.0.0.0/24' }]);
});

test('who: the holder, the pools that contain the address, an address without a holder', async () => {
  await using made = await startMemoryAgent([V4]);
  await made.agent.add(addArgs('c1', { requestedIPs: ['10.0.0.11'] }), newCall());
  expect(await made.agent.inspector.who('10.0.0.11', undefined)).toMatchObject({
    address: '10.0.0.11',
    records: [{ spec: { holder: { name: 'c1' } } }],
    pools: ['v4'],
  });
  expect(await made.agent.inspector.who('::ffff:10.0.0.12', undefined)).toEqual({
    address: '10.0.0.12',
    records: [],
    pools: ['v4'],
    reservedBy: [],
    asOfMs: expect.any(Number) as number,
  });
  await expect(made.agent.inspector.who('10.0.0.999', undefined)).rejects.toMatchObject({ reason: 'bad-input' });
});

test('explain: order, objections, and the error of an ADD for an address that is taken', async () => {
  await using made = await startMemoryAgent([OFF, V4]);
  expect(await made.agent.inspector.explain(addArgs('c1'))).toEqual({
    source: 'default pools',
    pools: [
      { name: 'v4', family: 4, place: 1, objection: null, used: '0', total: '3' },
      { name: 'off', family: 4, place: null, objection: 'it is disabled', used: '0', total: '256' },
    ],
  });
  await made.agent.add(addArgs('c1', { requestedIPs: ['10.0.0.11'] }), newCall());
  const again = made.agent.inspector.explain(addArgs('c2', { requestedIPs: ['10.0.0.11'] }));
  await expect(again).rejects.toMatchObject({
    reason: 'address-refused',
    message: expect.stringContaining('c1') as string,
  });
});

test('explain of a pod: what it holds already, and the error that the ADD would return', async () => {
  await using made = await startMemoryAgent([buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true }), OFF]);
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'u1' };
  expect(await made.agent.inspector.explain(addArgs('x', pod))).not.toHaveProperty('refusal');
  await made.agent.add(addArgs('c1', pod), newCall());
  expect(await made.agent.inspector.explain(addArgs('x', pod))).toMatchObject({
    held: [{ address: '10.0.0.10', pool: 'v4', state: 'Allocated' }],
  });
  expect(await made.agent.inspector.explain(addArgs('x', pod))).not.toHaveProperty('refusal');
  const other = addArgs('x', { podNamespace: 'prod', podName: 'web-1' });
  const told = await made.agent
    .add({ ...other, containerID: 'c2' }, newCall())
    .catch((thrown: Error) => thrown.message);
  expect(await made.agent.inspector.explain(other)).toMatchObject({
    refusal: { reason: 'pools-exhausted', message: told },
  });
  made.catalog.change([OFF]);
  expect(await made.agent.inspector.explain(other)).toMatchObject({ refusal: { reason: 'no-eligible-pool' } });
});

test('explain of a pod: what it has on other interfaces is shown, and told to the one that finds the pool full', async () => {
  await using made = await startMemoryAgent([buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true })]);
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'u1' };
  await made.agent.add(addArgs('c1', { ...pod, ifName: 'net1' }), newCall());
  expect(await made.agent.inspector.explain(addArgs('x', pod))).toMatchObject({
    held: [{ address: '10.0.0.10', interface: 'net1', pool: 'v4', state: 'Allocated' }],
    refusal: { message: 'no free IPv4 address for eth0: v4 1/1 used (10.0.0.10 by this pod on net1)' },
  });
});

test('explain of a pod says that it cannot see the CNI configuration, where that would come first', async () => {
  await using made = await startMemoryAgent([V4]);
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'u1' };
  const note = expect.stringContaining('give them with --ipv4-pool') as string;
  expect(await made.agent.inspector.explain(addArgs('x', pod))).toMatchObject({ note });
  const named = addArgs('x', { ...pod, defaultIPv4IPPool: ['v4'] });
  expect(await made.agent.inspector.explain(named)).not.toHaveProperty('note');
  made.catalog.change([OFF].map((pool) => ({ ...pool, isDefault: false })));
  await expect(made.agent.inspector.explain(addArgs('x', pod))).rejects.toMatchObject({ details: note });
});

test('records of an unknown pool are an error; those of a deleted pool are shown', async () => {
  await using made = await startMemoryAgent([V4]);
  await expect(made.agent.inspector.records({ pool: 'v5' })).rejects.toMatchObject({
    reason: 'unknown-pool',
    message: expect.stringContaining('pools: v4') as string,
  });
  await made.agent.add(addArgs('c1'), newCall());
  made.catalog.change([]);
  expect((await made.agent.inspector.records({ pool: 'v4' })).records).toHaveLength(1);
});

test('records come in pages', async () => {
  await using made = await startMemoryAgent([V4]);
  for (const name of ['c1', 'c2', 'c3']) await made.agent.add(addArgs(name), newCall());
  const first = await made.agent.inspector.records({ limit: 2 });
  expect(first.records.map((it) => it.name)).toEqual(['10.0.0.10', '10.0.0.11']);
  const second = await made.agent.inspector.records({ limit: 2, after: first.next ?? '' });
  expect([second.records.map((it) => it.name), second.next]).toEqual([['10.0.0.12'], undefined]);
});

test('check: records outside their pool, and of an unknown pool', async () => {
  await using made = await startMemoryAgent([V4]);
  await made.agent.add(addArgs('c1', { requestedIPs: ['10.0.0.10'] }), newCall());
  expect(await made.agent.inspector.check()).toEqual({ recordsChecked: 1, findings: [] });
  made.catalog.change([buildPool({ name: 'v4', ips: ['10.0.0.11'], isDefault: true })]);
  expect((await made.agent.inspector.check()).findings).toMatchObject([{ kind: 'outside-pool', subject: '10.0.0.10' }]);
  made.catalog.change([]);
  expect((await made.agent.inspector.check()).findings).toMatchObject([{ kind: 'unknown-pool', subject: '10.0.0.10' }]);
});

/** Two records whose namespaces are not in the directory that they name: one of worker-1, one of worker-2. */
async function writeVanished(ledger: Ledger) {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-netns-'));
  for (const [node, address] of [
    ['worker-1', '10.0.0.10'],
    ['worker-2', '10.0.0.11'],
  ] as const) {
    const holder = { name: node, uid: node, containerID: node, netns: join(directory, node), node };
    await ledger.create(buildRecord({ address, holder }).spec);
  }
  return { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

test('check: in a cluster only the network namespaces of this node are checked', async () => {
  await using made = await startMemoryClusterAgent([V4]);
  await using _directory = await writeVanished(made.ledger);
  const { recordsChecked, findings } = await made.agent.inspector.check();
  expect(recordsChecked).toBe(2);
  expect(findings).toMatchObject([{ kind: 'vanished-netns', subject: '10.0.0.10' }]);
});

test('check: without a cluster every network namespace is checked, under any node name', async () => {
  await using made = await startMemoryAgent([V4]);
  await using _directory = await writeVanished(made.ledger);
  const { findings } = await made.agent.inspector.check();
  expect(findings.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
    'vanished-netns 10.0.0.10',
    'vanished-netns 10.0.0.11',
  ]);
});
