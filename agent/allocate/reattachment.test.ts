import { expect, test } from 'vitest';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });

test.each(['c1', 'c2'])(
  'of two records for one interface the answered one stays, whichever sandbox (%s) asks',
  async (asks) => {
    const ledger = createMemoryLedger();
    await using made = await startMemoryClusterAgent([POOL], { ledger });
    const pod = made.pods.put('web');
    const answered = await made.add(pod, 'c1');
    const [record] = await made.records();
    if (record === undefined) throw new Error('the record of web is missing');
    const address = record.spec.address === '10.0.0.19' ? '10.0.0.10' : '10.0.0.19';
    for (const containerID of ['c1', 'c2']) {
      const landed = await ledger.create({ ...record.spec, address, holder: { ...record.spec.holder, containerID } });
      if (landed.record === null) throw new Error('it has not landed');
      made.index.put(landed.record);
      expect(await made.add(pod, asks)).toEqual(answered);
      expect((await made.records()).map(({ spec }) => spec.address)).toEqual(answered);
    }
  },
);

test('a record that is not there any more is not answered, and another address is taken', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  const [record] = await made.records();
  if (record === undefined) throw new Error('the record of web is missing');
  await ledger.release(record);
  await ledger.create({ ...record.spec, holder: { ...record.spec.holder, name: 'other', uid: 'other' } });
  expect(await made.add(pod, 'c1')).not.toEqual([record.spec.address]);
  expect((await ledger.get(record.name))?.spec.holder.uid).toBe('other');
});

test('a record that changes hands between the look and the write is not answered', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  const [record] = await made.records();
  if (record === undefined) throw new Error('the record of web is missing');
  const suspect = await ledger.amend(record, { ...record.spec, state: 'Suspect' });
  if (!suspect.done) throw new Error('it is not Suspect');
  await ledger.takeOver(suspect.record, { ...record.spec, holder: { ...record.spec.holder, name: 'x', uid: 'x' } });
  expect(await made.add(pod, 'c2')).not.toEqual([record.spec.address]);
  expect((await ledger.get(record.name))?.spec.holder.uid).toBe('x');
});

test('a record that an import made behind the back of the agent is found before a second address is taken', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web', { hadSandbox: true });
  await made.add(pod, 'c1');
  const [record] = await made.records();
  if (record === undefined) throw new Error('the record of web is missing');
  await ledger.release(record);
  const { containerID: _, netns: _netns, ...adopted } = record.spec.holder;
  await ledger.create({ ...record.spec, address: '10.0.0.17', holder: adopted });
  made.index.drop(record);
  expect(await made.add(pod, 'c2')).toEqual(['10.0.0.17']);
  expect(await made.records()).toHaveLength(1);
});

test('a new pod costs no read of the ledger', async () => {
  let lists = 0;
  const below = createMemoryLedger();
  const ledger = ledgerWith(below, {
    byHolder: (key) => {
      lists += 1;
      return below.byHolder(key);
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  await made.add(made.pods.put('web'), 'c1');
  expect(lists).toBe(0);
});
