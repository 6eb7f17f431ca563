import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { spoolFileName } from '#pkg/agentapi/spooled-del.ts';
import type { RecordSpec } from '#pkg/crd/ip-record.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { createMemoryLedger } from '#pkg/ledger/memory-ledger.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, type MemoryAgent, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { drainSpool } from './release/drain-spool.ts';

const V4_TEXT = { name: 'v4', ips: ['10.0.0.10-10.0.0.12'], gateway: '10.0.0.1', isDefault: true };
const V4 = buildPool(V4_TEXT);
const V6 = buildPool({ name: 'v6', subnet: 'fd00::/64', isDefault: true });
const silent = pino({ level: 'silent' });

async function addressesOf(made: MemoryAgent, containerID: string, more = {}): Promise<string[]> {
  const answer = await made.agent.add(addArgs(containerID, more), newCall());
  return answer.ips.map((ip) => ip.address);
}

async function allRecords(ledger: Ledger) {
  return await ledger.list({ limit: 10_000 });
}

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

test('an exhausted pool is told with its numbers, and the objections of the others', async () => {
  const disabled = buildPool({ name: 'spare', subnet: '10.0.1.0/24', isDefault: true, isDisabled: true });
  await using made = await startMemoryAgent([V4, disabled]);
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  await expect(addressesOf(made, 'c4')).rejects.toMatchObject({
    reason: 'pools-exhausted',
    message: 'no free IPv4 address for eth0: v4 3/3 used',
    details: 'v4 3/3 used\nspare: it is disabled',
  });
});

test('a waiter gets the address that comes back, without a working slot of its own', async () => {
  await using made = await startMemoryAgent([V4], { exhaustedWaitMs: 20_000 });
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  const waiting = addressesOf(made, 'c4');
  await sleep(20);
  await made.agent.del(delArgs('c2'));
  expect(await waiting).toHaveLength(1);
});

test('a waiter is woken when its pool grows', async () => {
  await using made = await startMemoryAgent([V4], { exhaustedWaitMs: 20_000 });
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  const waiting = addressesOf(made, 'c4');
  await sleep(20);
  made.catalog.change([buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.13'], isDefault: true })]);
  expect(await waiting).toEqual(['10.0.0.13/24']);
});

test('a caller that went away while waiting takes nothing', async () => {
  await using made = await startMemoryAgent([V4], { exhaustedWaitMs: 20_000 });
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  const gone = new AbortController();
  const waiting = made.agent.add(addArgs('c4'), newCall(30_000, gone.signal));
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ reason: 'agent-unavailable' });
  await made.agent.del(delArgs('c1'));
  expect(await allRecords(made.ledger)).toHaveLength(2);
});

test('DEL gives back, a second DEL and a DEL of the unknown are fine', async () => {
  await using made = await startMemoryAgent([V4, V6]);
  await addressesOf(made, 'c1');
  await made.agent.del(delArgs('c1'));
  await made.agent.del(delArgs('c1'));
  await made.agent.del(delArgs('never-there'));
  expect(await allRecords(made.ledger)).toEqual([]);
});

test('a pod reborn in a new sandbox keeps its address, and the late DEL of the old sandbox does not touch it', async () => {
  await using made = await startMemoryAgent([V4]);
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
  const first = await addressesOf(made, 'old', pod);
  expect(await addressesOf(made, 'new', pod)).toEqual(first);
  await made.agent.del(delArgs('old', pod));
  expect((await allRecords(made.ledger)).map((record) => record.spec.holder)).toMatchObject([
    { containerID: 'new', attach: 2 },
  ]);
});

test('a cooldown lets an address rest; the collector ends the rest', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const pool = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true, reuseCooldownSeconds: 90 });
  await using made = await startMemoryAgent([pool], { now: () => now });
  await addressesOf(made, 'c1');
  await made.agent.del(delArgs('c1'));
  expect((await allRecords(made.ledger)).map(({ spec }) => [spec.state, spec.until, spec.holder.uid])).toEqual([
    ['Cooling', '2026-01-01T00:01:30.000Z', undefined],
  ]);
  await expect(addressesOf(made, 'c2')).rejects.toMatchObject({ reason: 'pools-exhausted' });
  now = new Date('2026-01-01T00:01:30Z');
  expect(await made.agent.collect(false)).toMatchObject({
    freed: [{ name: '10.0.0.10', because: 'its rest is over' }],
  });
  expect(await addressesOf(made, 'c2')).toEqual(['10.0.0.10/24']);
});

test('a host that was renamed still gives back what it took under its old name', async () => {
  const ledger = createMemoryLedger();
  await using before = await startMemoryAgent([V4], { ledger, node: 'old-name' });
  await addressesOf(before, 'c1');
  await using after = await startMemoryAgent([V4], { ledger, node: 'new-name' });
  await after.agent.del(delArgs('c1'));
  expect(await allRecords(ledger)).toEqual([]);
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

test('rule 8: an ADD consumes the spooled DEL of its attachment, the drain afterwards frees nothing', async () => {
  await using made = await startMemoryAgent([V4]);
  const first = await addressesOf(made, 'c1');
  await spoolDel(made, 'c1');
  expect(await addressesOf(made, 'c1')).toEqual(first);
  await drainSpool(made.spool, made.releaser, silent);
  expect((await allRecords(made.ledger)).map((record) => record.spec.holder.attach)).toEqual([2]);
  expect(await made.spool.names()).toEqual([]);
});

test.each([
  { name: 'whose caller went away', meanwhile: async (_made: MemoryAgent, gone: AbortController) => gone.abort() },
  { name: 'that a second DEL has overtaken', meanwhile: async (made: MemoryAgent) => await spoolDel(made, 'c1') },
])('an ADD $name does not consume the spooled DEL: it applies to what the ADD took', async ({ meanwhile }) => {
  const memory = createMemoryLedger();
  const held = Promise.withResolvers<void>();
  const ledger: Ledger = Object.assign(Object.create(memory) as Ledger, {
    ...bound(memory),
    release: memory.release.bind(memory),
    create: async (spec: RecordSpec) => {
      await held.promise;
      return await memory.create(spec);
    },
  });
  await using made = await startMemoryAgent([V4], { ledger });
  await spoolDel(made, 'c1');
  const gone = new AbortController();
  const adding = made.agent.add(addArgs('c1'), newCall(30_000, gone.signal));
  await sleep(20);
  await meanwhile(made, gone);
  held.resolve();
  await expect(adding).rejects.toMatchObject({ reason: 'agent-unavailable' });
  expect(await allRecords(memory)).toHaveLength(1);
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(memory)).toEqual([]);
});

test('a spooled DEL without a new ADD is applied, once', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  await spoolDel(made, 'c1');
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(made.ledger)).toEqual([]);
  expect(await made.spool.names()).toEqual([]);
});

test('rule 8: a drain that has listed the entry before the ADD consumed it frees nothing', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  await spoolDel(made, 'c1');
  const [adding, draining] = [addressesOf(made, 'c1'), drainSpool(made.spool, made.releaser, silent)];
  await Promise.all([adding, draining]);
  expect(await allRecords(made.ledger)).toHaveLength(1);
});

test('a poison file is set aside and reported, the others are applied', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  await writeFile(join(made.spoolDirectory, 'aaa@eth0.json'), '{"version":1');
  await writeFile(join(made.spoolDirectory, 'bbb@eth0.json'), JSON.stringify({ version: 1, del: delArgs('c1') }));
  await spoolDel(made, 'c1');
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(made.ledger)).toEqual([]);
  expect((await made.spool.poison()).toSorted()).toEqual(['aaa@eth0.json', 'bbb@eth0.json']);
  const { findings } = await made.agent.inspector.check();
  expect(findings.map((finding) => [finding.kind, finding.subject])).toEqual([
    ['poison-spool', 'aaa@eth0.json'],
    ['poison-spool', 'bbb@eth0.json'],
  ]);
});

test('GC frees what the runtime no longer knows, of this network only, and nothing written after the call', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'kept');
  await addressesOf(made, 'lost');
  await addressesOf(made, 'other', { network: 'other-net' });
  const call = newCall();
  const released = await made.agent.gc(
    { network: 'lab', validAttachments: [{ containerID: 'kept', ifName: 'eth0' }] },
    call,
  );
  expect(released).toBe(1);
  await addressesOf(made, 'late');
  expect(
    await made.agent.gc({ network: 'lab', validAttachments: [{ containerID: 'kept', ifName: 'eth0' }] }, call),
  ).toBe(0);
  const holders = (await allRecords(made.ledger)).map((record) => record.spec.holder.containerID);
  expect(holders.toSorted()).toEqual(['kept', 'late', 'other']);
});

test('GC does not free a record that an ADD was answered with after the call arrived', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  const call = newCall();
  await addressesOf(made, 'c1');
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, call)).toBe(0);
});

const CHECKED = { address: '10.0.0.10/24', gateway: '10.0.0.1' };
test.each([
  { name: 'the same', containerID: 'c1', ips: [CHECKED], problem: null },
  {
    name: 'another address',
    containerID: 'c1',
    ips: [{ address: '10.0.0.99/24' }],
    problem: 'holds 10.0.0.10/24, but prevResult shows 10.0.0.99/24',
  },
  {
    name: 'another prefix',
    containerID: 'c1',
    ips: [{ address: '10.0.0.10/16' }],
    problem: 'holds 10.0.0.10/24, but prevResult shows 10.0.0.10/16',
  },
  {
    name: 'another gateway',
    containerID: 'c1',
    ips: [{ ...CHECKED, gateway: '10.0.0.2' }],
    problem: 'gateway recorded for 10.0.0.10/24 is 10.0.0.1, but prevResult shows 10.0.0.2',
  },
  {
    name: 'one too many',
    containerID: 'c1',
    ips: [CHECKED, { address: 'fd00::1/64' }],
    problem: 'prevResult shows fd00::1/64',
  },
  {
    name: 'unknown container',
    containerID: 'c2',
    ips: [CHECKED],
    problem: 'no address is recorded for eth0 of container c2',
  },
])('CHECK: $name', async ({ containerID, ips, problem }) => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  const checking = made.agent.check({ ...delArgs(containerID), ips });
  if (problem === null) await expect(checking).resolves.toBeUndefined();
  else
    await expect(checking).rejects.toMatchObject({
      reason: 'check-failed',
      message: expect.stringContaining(problem) as string,
    });
});

test('an operator releases exactly the record that was shown', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  await sleep(2);
  const { records, asOfMs } = await made.agent.inspector.who('10.0.0.10', undefined);
  const shown = {
    name: '10.0.0.10',
    uid: records[0]?.uid ?? '',
    resourceVersion: records[0]?.resourceVersion ?? '',
    asOfMs,
  };
  expect(await made.agent.release({ ...shown, resourceVersion: '999' })).toEqual({
    released: false,
    because: 'changed',
  });
  expect(await made.agent.release({ ...shown, name: '10.0.0.11' })).toEqual({ released: false, because: 'gone' });
  expect(await made.agent.release(shown)).toEqual({ released: true });
  expect(await allRecords(made.ledger)).toEqual([]);
});

test('rule 8: the release of an operator does not hit a container that was answered since it was shown', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  await sleep(2);
  const { records, asOfMs } = await made.agent.inspector.who('10.0.0.10', undefined);
  await addressesOf(made, 'c1');
  const shown = {
    name: '10.0.0.10',
    uid: records[0]?.uid ?? '',
    resourceVersion: records[0]?.resourceVersion ?? '',
    asOfMs,
  };
  expect(await made.agent.release(shown)).toEqual({ released: false, because: 'changed' });
});

test('a repeated ADD is answered although its pool was disabled or is gone', async () => {
  await using made = await startMemoryAgent([V4]);
  const first = await addressesOf(made, 'c1');
  made.catalog.change([buildPool({ ...V4_TEXT, isDisabled: true })]);
  expect(await addressesOf(made, 'c1')).toEqual(first);
  made.catalog.change([]);
  expect(await addressesOf(made, 'c1')).toEqual(first);
});

test('a container that comes back in another network gets an address of that network, and the old one is given back', async () => {
  const other = buildPool({ name: 'other', subnet: '10.9.0.0/24', ips: ['10.9.0.5'] });
  await using made = await startMemoryAgent([V4, other]);
  await addressesOf(made, 'c1');
  expect(await addressesOf(made, 'c1', { network: 'new-net', defaultIPv4IPPool: ['other'] })).toEqual(['10.9.0.5/24']);
  expect((await allRecords(made.ledger)).map((it) => it.name)).toEqual(['10.9.0.5']);
});

test('a GC that waited for the agent spares what was added since it was made', async () => {
  await using made = await startMemoryAgent([V4]);
  const begunAtMs = performance.now();
  await addressesOf(made, 'c1');
  const late = { ...newCall(), begunAtMs };
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, late)).toBe(0);
  expect(await allRecords(made.ledger)).toHaveLength(1);
});

test('what the index learns late about one holder does not hide the record of the next', async () => {
  const memory = createMemoryLedger();
  const held = Promise.withResolvers<void>();
  let isSlow = false;
  const ledger: Ledger = Object.assign(Object.create(memory) as Ledger, {
    ...bound(memory),
    release: memory.release.bind(memory),
    get: async (name: string) => {
      if (isSlow) await held.promise;
      return await memory.get(name);
    },
  });
  const one = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
  await using made = await startMemoryAgent([one], { ledger });
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
  await addressesOf(made, 'c1', pod);
  isSlow = true;
  const reborn = addressesOf(made, 'c2', pod).catch(() => []);
  await sleep(5);
  await made.agent.del(delArgs('c1', pod));
  isSlow = false;
  await addressesOf(made, 'c3');
  held.resolve();
  await reborn;
  await made.agent.del(delArgs('c3'));
  await made.agent.del(delArgs('c2', pod));
  expect(await allRecords(memory)).toEqual([]);
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

test('a waiter of a renamed pool gets the address that comes back under the old name', async () => {
  await using made = await startMemoryAgent([V4], { exhaustedWaitMs: 20_000 });
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  made.catalog.change([buildPool({ ...V4_TEXT, name: 'renamed' })]);
  const waiting = addressesOf(made, 'c4');
  await sleep(20);
  await made.agent.del(delArgs('c2'));
  expect(await waiting).toHaveLength(1);
});

async function spoolDel(made: MemoryAgent, containerID: string): Promise<void> {
  const del = delArgs(containerID);
  await writeFile(join(made.spoolDirectory, spoolFileName(del)), JSON.stringify({ version: 1, del }));
}

function bound(ledger: Ledger): Partial<Ledger> {
  const names = [
    'create',
    'takeOver',
    'amend',
    'get',
    'byHolder',
    'byNode',
    'list',
    'takenOf',
    'watchFreed',
    'close',
  ] as const;
  return Object.fromEntries(names.map((name) => [name, ledger[name].bind(ledger)]));
}
