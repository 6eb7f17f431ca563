import { expect, test } from 'vitest';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };

/** A running db-0 whose record this agent has still to learn of, as of a restored one. `meddle` comes before each write. */
async function start(meddle: (seen: IpRecord) => Promise<unknown>) {
  const below = createMemoryLedger();
  let isMeddling = false;
  const ledger = ledgerWith(below, {
    amend: async (seen, next) => {
      if (isMeddling) await meddle(seen);
      return await below.amend(seen, next);
    },
  });
  const made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('db-0', { controller: SET });
  const before = await made.add(pod, 'c1');
  for (const record of made.index.all()) made.index.drop(record);
  isMeddling = true;
  return { ...made, below, pod, before };
}

/** As when the controller puts labels right. */
const touched = ({ spec }: IpRecord) => ({
  ...spec,
  holder: { ...spec.holder, attachGeneration: spec.holder.attachGeneration + 1 },
});

test('a sticky pod that meets a change of its own record keeps its address', async () => {
  let changes = 0;
  await using made = await start(async (seen) => {
    changes += 1;
    if (changes === 1) await made.below.amend(seen, touched(seen));
  });
  expect(await made.add(made.pod, 'c2')).toEqual(made.before);
  expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c2', attachGeneration: 3 } } }]);
});

test('a record of its own that changes under every try ends as address-held, and no second address is taken', async () => {
  await using made = await start((seen) => made.below.amend(seen, touched(seen)));
  await expect(made.add(made.pod, 'c2')).rejects.toMatchObject({ reason: 'address-held' });
  expect(await made.records()).toMatchObject([{ spec: { address: made.before[0], holder: { containerID: 'c1' } } }]);
});

test('a sticky pod whose own record goes away before its eyes gets another address', async () => {
  await using made = await start((seen) => made.below.release(seen));
  expect(await made.add(made.pod, 'c2')).toHaveLength(1);
  expect(await made.records()).toMatchObject([
    { spec: { state: 'Allocated', holder: { containerID: 'c2', attachGeneration: 1 } } },
  ]);
});
