import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { addressesOf, allRecords, bound, V4, V4_TEXT } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { delArgs, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

test('a pod reborn in a new sandbox keeps its address, and the late DEL of the old sandbox does not touch it', async () => {
  await using made = await startMemoryAgent([V4]);
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
  const first = await addressesOf(made, 'old', pod);
  expect(await addressesOf(made, 'new', pod)).toEqual(first);
  await made.agent.del(delArgs('old', pod));
  expect((await allRecords(made.ledger)).map((record) => record.spec.holder)).toMatchObject([
    { containerID: 'new', attachGeneration: 2 },
  ]);
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
