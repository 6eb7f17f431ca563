import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addressesOf, allRecords, V4 } from '#test/support/agent-acts.ts';
import { newCall, startMemoryAgent } from '#test/support/memory-agent.ts';

/** Where nothing is known of a namespace, the runtime's list decides alone. */
const UNSEEN = { netNamespace: '/nowhere/at/all' };

test('GC frees what the runtime no longer knows, of this network only, and nothing written after the call', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'kept');
  await addressesOf(made, 'lost', UNSEEN);
  await addressesOf(made, 'other', { ...UNSEEN, network: 'other-net' });
  const call = newCall();
  const released = await made.agent.gc(
    { network: 'lab', validAttachments: [{ containerID: 'kept', ifName: 'eth0' }] },
    call,
  );
  expect(released).toBe(1);
  await addressesOf(made, 'late', UNSEEN);
  expect(
    await made.agent.gc({ network: 'lab', validAttachments: [{ containerID: 'kept', ifName: 'eth0' }] }, call),
  ).toBe(0);
  const holders = (await allRecords(made.ledger)).map((record) => record.spec.holder.containerID);
  expect(holders.toSorted()).toEqual(['kept', 'late', 'other']);
});

test('GC does not free a record that an ADD was answered with after the call arrived', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', UNSEEN);
  const call = newCall();
  await addressesOf(made, 'c1', UNSEEN);
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, call)).toBe(0);
});

test('a GC that waited for the agent spares what was added since it was made', async () => {
  await using made = await startMemoryAgent([V4]);
  const begunAtMs = performance.now();
  await addressesOf(made, 'c1', UNSEEN);
  const late = { ...newCall(), begunAtMs };
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, late)).toBe(0);
  expect(await allRecords(made.ledger)).toHaveLength(1);
});

test('the list of one runtime does not free what runs under another with the same network name', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-netns-'));
  const netNamespace = join(directory, 'c1');
  await writeFile(netNamespace, '');
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { netNamespace });
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, newCall())).toBe(0);
  await rm(netNamespace);
  expect(await made.agent.gc({ network: 'lab', validAttachments: [] }, newCall())).toBe(1);
  await rm(directory, { recursive: true });
});
