import { expect, test } from 'vitest';
import { addressesOf, allRecords, V4 } from '#test/support/agent-acts.ts';
import { newCall, startMemoryAgent } from '#test/support/memory-agent.ts';

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

test('a GC that waited for the agent spares what was added since it was made', async () => {
  await using made = await startMemoryAgent([V4]);
  const begunAtMs = performance.now();
  await addressesOf(made, 'c1');
  const late = { ...newCall(), begunAtMs };
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, late)).toBe(0);
  expect(await allRecords(made.ledger)).toHaveLength(1);
});
