import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const WEB = { kind: 'Pod', namespace: 'prod', name: 'web', uid: 'uid-of-web', node: 'worker-1' } as const;

async function landed(ledger: Ledger, address: string, holder = {}): Promise<IpRecord> {
  const { record } = await ledger.create(buildRecord({ address, holder: { ...WEB, ...holder } }).spec);
  if (record === null) throw new Error(`${address} has not landed`);
  return record;
}

test("it learns this node's records and none of another's, and forgets what is gone", async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const own = await landed(ledger, '10.0.0.10');
  await landed(ledger, '10.0.0.11', { node: 'worker-2', uid: 'x' });
  await made.refresh();
  expect(made.index.all()).toEqual([own]);
  await ledger.release(own);
  await made.refresh();
  expect(made.index.all()).toEqual([]);
});

test('records that another host wrote under this node name are told', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger, log });
  await landed(ledger, '10.0.0.10', { machineID: 'machine-1' });
  await landed(ledger, '10.0.0.11', { name: 'old', uid: 'old' });
  await made.refresh();
  expect(lines).toEqual([]);
  await landed(ledger, '10.0.0.12', { name: 'other', uid: 'other', machineID: 'machine-2' });
  await made.refresh();
  expect(lines).toMatchObject([
    { records: 1, machineIDs: ['machine-2'], msg: expect.stringContaining('two hosts have one node name') },
  ]);
});

test('what was written while the list was under way is neither forgotten nor set back', async () => {
  const below = createMemoryLedger();
  const listed = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  let isSlow = false;
  const ledger = ledgerWith(below, {
    byNode: async (node) => {
      const records = await below.byNode(node);
      if (isSlow) {
        listed.resolve();
        await mayEnd.promise;
      }
      return records;
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const old = made.pods.put('old');
  await made.add(old, 'c1');
  isSlow = true;
  const refreshing = made.refresh();
  await listed.promise;
  await made.add(old, 'c2');
  await made.add(made.pods.put('young'), 'c3');
  mayEnd.resolve();
  await refreshing;
  expect(made.index.all()).toHaveLength(2);
  expect(made.index.all()).toEqual(expect.arrayContaining(await made.records()));
});

test('a list alone does not void what was judged before it', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  await made.add(made.pods.put('web'), 'c1');
  const [record] = await made.records();
  const before = made.index.writtenAtMs(record?.name ?? '');
  await made.refresh();
  expect(made.index.writtenAtMs(record?.name ?? '')).toBe(before);
});

test('a Suspect record whose sandbox lives here is taken back; one whose pod or namespace is gone is not', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const lives = made.pods.put('lives');
  made.pods.put('moved');
  const suspects = [
    await landed(ledger, '10.0.0.10', { name: 'lives', uid: lives.uid, netns: '/proc/self/ns/net' }),
    await landed(ledger, '10.0.0.11', { name: 'gone', uid: 'gone', netns: '/proc/self/ns/net' }),
    await landed(ledger, '10.0.0.12', { name: 'moved', uid: 'uid-of-moved', netns: '/proc/self/ns/none' }),
  ];
  for (const record of suspects) await ledger.amend(record, { ...record.spec, state: 'Suspect' });
  await made.refresh();
  expect((await made.records()).map(({ spec }) => [spec.state, spec.holder.attachGeneration])).toEqual([
    ['Allocated', 2],
    ['Suspect', 1],
    ['Suspect', 1],
  ]);
});

test('of two records for one interface the answered one stays', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web');
  const answered = await made.add(pod, 'c1', { requestedIPs: ['10.0.0.15'] });
  await landed(ledger, '10.0.0.10', { containerID: 'c0', network: 'lab' });
  await landed(ledger, '10.0.0.11', { containerID: 'c1', interface: 'net1' }); // another interface is another matter
  await made.refresh();
  await made.refresh(); // the first one made it known, after its judgement
  expect((await made.records()).map(({ spec }) => spec.address)).toEqual(['10.0.0.11', ...answered]);
});

test('of two that nobody was answered with both stay: the next ADD decides', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web');
  await landed(ledger, '10.0.0.10', { containerID: 'c1' });
  await landed(ledger, '10.0.0.11', { containerID: 'c2' });
  await made.refresh();
  await made.refresh();
  expect(await made.records()).toHaveLength(2);
  expect(await made.add(pod, 'c2')).toEqual(['10.0.0.11']);
  expect(await made.records()).toHaveLength(1);
});
