import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spoolFileName } from '#pkg/agentapi/decode-args.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.12'], isDefault: true });

test('a spooled DEL that an ADD has consumed since it was listed frees nothing', async () => {
  await using made = await startMemoryAgent([POOL]);
  await made.agent.add(addArgs('c1'), newCall());
  const del = delArgs('c1');
  const name = spoolFileName(del);
  await writeFile(join(made.spoolDirectory, name), JSON.stringify({ version: 1, del }));
  await made.agent.add(addArgs('c1'), newCall());
  expect(await made.releaser.delSpooled(name, del)).toBeNull();
  expect(await made.ledger.list({ limit: 10 })).toHaveLength(1);
});

test('a judgement from before an ADD that was answered with the unchanged record is void', async () => {
  await using made = await startMemoryAgent([POOL]);
  await made.agent.add(addArgs('c1'), newCall());
  const [record] = await made.ledger.list({ limit: 1 });
  if (record === undefined) throw new Error('the record of c1 is missing');
  const judgedAtMs = performance.now();
  await made.agent.add(addArgs('c1'), newCall());
  expect(await made.ledger.get(record.name)).toEqual(record);
  expect(await made.releaser.releaseJudged(record, judgedAtMs)).toBe('changed');
  expect(await made.ledger.get(record.name)).toEqual(record);
  expect(await made.releaser.releaseJudged(record, performance.now())).toBe('released');
  expect(await made.releaser.releaseJudged(record, performance.now())).toBe('gone');
});

test('a record changed behind the agent is left alone', async () => {
  await using made = await startMemoryAgent([POOL]);
  await made.agent.add(addArgs('c1'), newCall());
  const [record] = await made.ledger.list({ limit: 1 });
  if (record === undefined) throw new Error('the record of c1 is missing');
  await made.ledger.amend(record, { ...record.spec, holder: { ...record.spec.holder, attachGeneration: 7 } });
  expect(await made.releaser.del(delArgs('c1'))).toMatchObject([{ outcome: 'changed' }]);
  expect((await made.ledger.get(record.name))?.spec.holder.attachGeneration).toBe(7);
});

test('all interfaces of a container are released at once', async () => {
  await using made = await startMemoryAgent([POOL]);
  await made.agent.add(addArgs('c1'), newCall());
  await made.agent.add(addArgs('c1', { ifName: 'net1' }), newCall());
  await made.agent.add(addArgs('c2'), newCall());
  await made.agent.delContainer({ containerID: 'c1', podNamespace: '', podName: '', podUID: '' });
  expect((await made.ledger.list({ limit: 10 })).map((it) => it.spec.holder.containerID)).toEqual(['c2']);
});

test('a record that was taken over without a container is released by its pod and interface', async () => {
  await using made = await startMemoryAgent([POOL]);
  const holder = {
    kind: 'Container',
    namespace: 'prod',
    name: 'web',
    uid: 'u-1',
    interface: 'eth0',
    attachGeneration: 1,
    node: 'worker-1',
  } as const;
  const spec = { address: '10.0.0.10', prefix: 24, domain: 'default', state: 'Allocated', holder } as const;
  const outcome = await made.ledger.create({ ...spec, pool: { kind: 'SpiderIPPool', name: 'v4', uid: 'p' } });
  if (!outcome.taken) throw new Error('the address is taken');
  made.index.put(outcome.record);
  const pod = { podNamespace: 'prod', podName: 'web', podUID: 'u-1' };
  await made.agent.del(delArgs('c1', { ...pod, ifName: 'net1' }));
  await made.agent.del(delArgs('c1', { ...pod, podUID: 'u-2' }));
  expect(await made.ledger.list({ limit: 9 })).toHaveLength(1);
  await made.agent.del(delArgs('c1', pod));
  expect(await made.ledger.list({ limit: 9 })).toEqual([]);
});

test('one family that cannot be given back fails the DEL, and the other is given back all the same', async () => {
  const below = createMemoryLedger();
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      if (seen.spec.address.includes('.')) throw new IpamError('io-failure', 'the disk is full');
      return await below.release(seen);
    },
  });
  const v6 = buildPool({ name: 'v6', subnet: 'fd00::/64', isDefault: true });
  await using made = await startMemoryAgent([POOL, v6], { ledger });
  await made.agent.add(addArgs('c1'), newCall());
  await expect(made.agent.del(delArgs('c1'))).rejects.toThrow('the disk is full');
  expect((await below.list({ limit: 9 })).map(({ spec }) => spec.pool.name)).toEqual(['v4']);
});
