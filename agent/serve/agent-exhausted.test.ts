import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inState } from '#test/contract/record-spec.ts';
import { addressesOf, allRecords, V4, V4_TEXT } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';

test('an exhausted pool is told with its numbers, and the objections of the others', async () => {
  const disabled = buildPool({ name: 'spare', subnet: '10.0.1.0/24', isDefault: true, isDisabled: true });
  await using made = await startMemoryAgent([V4, disabled]);
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  await expect(addressesOf(made, 'c4')).rejects.toMatchObject({
    reason: 'pools-exhausted',
    message: 'no free IPv4 address for eth0: v4 3/3 used',
    details: 'spare: it is disabled',
  });
});

test.each([
  { name: 'the only candidate', ips: ['a'], says: 'the only candidate from CNI configuration cannot be used' },
  { name: 'each of two', ips: ['a', 'b'], says: 'all 2 candidates from CNI configuration cannot be used' },
])('$name is disabled: told as such', async ({ ips, says }) => {
  const pools = [1, 2].map((at) => buildPool({ name: ' ab'[at] ?? '', subnet: `10.0.${at}.0/24`, isDisabled: true }));
  await using made = await startMemoryAgent(pools);
  await expect(made.agent.add(addArgs('c1', { defaultIPv4IPPool: ips }), newCall())).rejects.toThrow(says);
});

test.each([
  { name: 'a full second', waitMs: 1_000, says: 'after waiting 1 s: v4' },
  { name: 'less', waitMs: 30, says: 'after waiting less than 1 s: v4' },
])('a call that waited for $name says so', async ({ waitMs, says }) => {
  await using made = await startMemoryAgent([V4], { exhaustedWaitMs: waitMs });
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  await expect(addressesOf(made, 'c4')).rejects.toThrow(says);
});

test('an exhausted pool is told with the addresses that no running pod has', async () => {
  await using made = await startMemoryAgent([V4]);
  for (const name of ['c1', 'c2', 'c3']) await addressesOf(made, name);
  const [first, second] = await allRecords(made.ledger);
  if (first === undefined || second === undefined) throw new Error('there are no records');
  await made.ledger.amend(first, inState(first.spec, 'Quarantined'));
  await made.ledger.amend(second, inState(second.spec, 'Cooling'));
  await expect(addressesOf(made, 'c4')).rejects.toThrow(
    'v4 3/3 used (1 in quarantine, because a foreign host answers there, 1 in cooldown)',
  );
});

test('a waiter gets the address that comes back', async () => {
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
  await expect(waiting).rejects.toMatchObject({ reason: 'caller-gone' });
  await made.agent.del(delArgs('c1'));
  expect(await allRecords(made.ledger)).toHaveLength(2);
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
