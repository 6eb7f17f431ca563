import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { addressesOf, allRecords, bound, V4, V6 } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

test('an ADD gets one address of each family, with gateway and default route', async () => {
  await using made = await startMemoryAgent([V4, V6]);
  const answer = await made.agent.add(addArgs('c1'), newCall());
  expect(answer.ips).toMatchObject([
    { version: 4, nic: 'eth0', ipPool: 'v4', gateway: '10.0.0.1' },
    { version: 6, nic: 'eth0', ipPool: 'v6' },
  ]);
  expect(answer.routes).toEqual([{ ifName: 'eth0', dst: '0.0.0.0/0', gw: '10.0.0.1' }]);
  expect(await allRecords(made.ledger)).toHaveLength(2);
});

test('a repeated ADD is answered with the same addresses and writes nothing', async () => {
  await using made = await startMemoryAgent([V4, V6]);
  const first = await addressesOf(made, 'c1');
  const before = await allRecords(made.ledger);
  expect(await addressesOf(made, 'c1')).toEqual(first);
  expect(await allRecords(made.ledger)).toEqual(before);
});

test('two ADDs of one container at once end with one record', async () => {
  await using made = await startMemoryAgent([V4]);
  const [a, b] = await Promise.all([addressesOf(made, 'c1'), addressesOf(made, 'c1')]);
  expect(a).toEqual(b);
  expect(await allRecords(made.ledger)).toHaveLength(1);
});

test('two interfaces of one container get two addresses, and the answer names both', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  const answer = await made.agent.add(addArgs('c1', { ifName: 'net1' }), newCall());
  expect(answer.ips.map((ip) => ip.nic)).toEqual(['eth0', 'net1']);
  expect(new Set(answer.ips.map((ip) => ip.address)).size).toBe(2);
});

test('a family that fails gives back what the other took', async () => {
  const full = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
  await using made = await startMemoryAgent([full, V6]);
  await addressesOf(made, 'c1');
  await expect(addressesOf(made, 'c2')).rejects.toMatchObject({ reason: 'pools-exhausted' });
  const holders = (await allRecords(made.ledger)).map((record) => record.spec.holder.containerID);
  expect(holders).toEqual(['c1', 'c1']);
});

test('what could not be given back is said', async () => {
  const memory = createMemoryLedger();
  const ledger: Ledger = Object.assign(Object.create(memory) as Ledger, {
    ...bound(memory),
    release: async () => Promise.reject(new IpamError('io-failure', 'the disk is full')),
  });
  const full = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
  await using made = await startMemoryAgent([full, V6], { ledger });
  await addressesOf(made, 'c1');
  await expect(addressesOf(made, 'c2')).rejects.toMatchObject({
    reason: 'pools-exhausted',
    details: expect.stringContaining('could not be given back: the disk is full') as string,
  });
});

const RESERVED = [
  { name: 'gateways', family: 4 as const, addresses: IntervalSet.of([parseRange('10.0.0.11')]), isTerminating: false },
];
test.each([
  { name: 'free', ask: '10.0.0.12', message: null },
  { name: 'free, with the right prefix', ask: '10.0.0.12/24', message: null },
  { name: 'wrong prefix', ask: '10.0.0.12/16', message: 'but pool v4 has prefix length /24' },
  { name: 'reserved', ask: '10.0.0.11', message: 'SpiderReservedIP gateways reserves it' },
  { name: 'taken', ask: '10.0.0.10', message: 'it is taken by Container c0 eth0 on worker-1' },
  { name: 'in the subnet, not in ips', ask: '10.0.0.99', message: 'not among the addresses it may give' },
  { name: 'outside', ask: '192.0.2.1', message: 'outside every candidate pool: v4 (10.0.0.0/24)' },
  { name: 'other family', ask: 'fd00::1', message: 'no IPv6 pool is a candidate' },
  { name: 'not an address', ask: '10.0.0.300', message: '10.0.0.300' },
])('a fixed address: $name', async ({ ask, message }) => {
  await using made = await startMemoryAgent([V4], { reservedIps: RESERVED });
  await addressesOf(made, 'c0', { requestedIPs: ['10.0.0.10'] });
  const asked = addressesOf(made, 'c1', { requestedIPs: [ask] });
  if (message === null) expect(await asked).toEqual(['10.0.0.12/24']);
  else await expect(asked).rejects.toThrow(message);
  expect(await allRecords(made.ledger)).toHaveLength(message === null ? 2 : 1);
});

test('an ADD for an unknown pool says which exist', async () => {
  await using made = await startMemoryAgent([V4]);
  await expect(addressesOf(made, 'c1', { defaultIPv4IPPool: ['v5'] })).rejects.toMatchObject({
    reason: 'unknown-pool',
    message: expect.stringContaining('v4') as string,
  });
});

test('an address that a record of another pool holds is passed over, and a pool of only such ones is exhausted', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  await addressesOf(made, 'c2', { requestedIPs: ['10.0.0.11'] });
  made.catalog.change([buildPool({ name: 'renamed', ips: ['10.0.0.10-10.0.0.12'], isDefault: true })]);
  expect(await addressesOf(made, 'c3')).toEqual(['10.0.0.12/24']);
  await expect(addressesOf(made, 'c4')).rejects.toMatchObject({
    reason: 'pools-exhausted',
    message: expect.stringContaining('renamed 3/3 used') as string,
  });
});
