import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });

/** An agent with three pods; from now on it is written down what its ledger is asked to read. */
async function startWithThree() {
  const below = createMemoryLedger();
  const asked: string[] = [];
  const ledger: Ledger = ledgerWith(below, {
    byNode: async (node) => {
      asked.push(`node ${node}`);
      return await below.byNode(node);
    },
    get: async (name) => {
      asked.push(name);
      return await below.get(name);
    },
  });
  const made = await startMemoryClusterAgent([POOL], {
    ledger,
    look: async () => 'there',
  });
  const names: string[] = [];
  for (const name of ['a', 'b', 'c']) names.push(...(await made.add(made.pods.put(name), name)));
  asked.length = 0;
  return { made, below, asked, names, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}

test('each known record is read by its name, and nothing is listed', async () => {
  await using world = await startWithThree();
  await world.made.confirm();
  expect(world.asked).toEqual(world.names);
});

test('a record that was deleted behind the back of the agent is created again', async () => {
  await using world = await startWithThree();
  const [record] = await world.below.list({ limit: 1 });
  if (record !== undefined) await world.below.release(record);
  await world.made.confirm();
  expect(world.made.restored).toEqual([record?.spec.address]);
  expect((await world.made.records()).map(({ name }) => name).toSorted()).toEqual(world.names.toSorted());
});

test('what the controller changed is learnt: a Suspect record of a live sandbox is taken back', async () => {
  await using world = await startWithThree();
  const [record] = await world.below.list({ limit: 1 });
  if (record !== undefined) await world.below.amend(record, { ...record.spec, state: 'Suspect' });
  await world.made.confirm();
  expect((await world.made.records()).map(({ spec }) => spec.state)).toEqual(['Allocated', 'Allocated', 'Allocated']);
});

test('a record that a pod of another node has by now is no record of this node', async () => {
  await using world = await startWithThree();
  const [record] = await world.below.list({ limit: 1 });
  if (record === undefined) throw new Error('there is a record');
  await world.below.release(record);
  const holder = { ...record.spec.holder, node: 'worker-2', name: 'other', uid: 'other' };
  await world.below.create({ ...record.spec, holder });
  await world.made.confirm();
  expect(world.made.index.all().map(({ name }) => name)).not.toContain(record.name);
  expect(world.made.answered.lost).toMatchObject([{ now: { spec: { holder: { node: 'worker-2' } } } }]);
});
