import { expect, test } from 'vitest';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.12'], isDefault: true });
const MINUTE_MS = 60_000;

/** A node with one record, whose pod is gone and whose sandbox is this process's own namespace. */
async function startNode() {
  let laterMs = 0;
  let isAway = false;
  const told: IpRecord[] = [];
  const below = createMemoryLedger();
  const ledger = ledgerWith(below, {
    amend: async (seen, next) => {
      if (isAway) throw new Error('the API server is away');
      return await below.amend(seen, next);
    },
  });
  const nowMs = () => performance.now() + laterMs;
  const onOutliving = (record: IpRecord) => void told.push(record);
  const made = await startMemoryClusterAgent([POOL], { ledger, nowMs, onOutliving });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  made.pods.remove(pod);
  const record = async () => {
    const [found] = await made.records();
    if (found === undefined) throw new Error('there is no record');
    return found;
  };
  return {
    ...made,
    told,
    record,
    setAway: (away: boolean) => {
      isAway = away;
    },
    /** As the controller does it, and the next refresh of the index sees it. */
    suspect: async () => {
      const before = await record();
      await below.amend(before, { ...before.spec, state: 'Suspect' });
      await made.refresh();
    },
    after: async (ms: number) => {
      await made.collector.collect(false);
      laterMs += ms;
      await made.collector.collect(false);
      await made.marks.mark();
      return (await record()).spec.holder.attachGeneration;
    },
  };
}

test('a Suspect record whose sandbox is seen changes every 20 minutes, and is told of no second time', async () => {
  await using node = await startNode();
  await node.suspect();
  expect(await node.after(59_000)).toBe(1);
  expect(await node.after(2_000)).toBe(2);
  expect(await node.after(19 * MINUTE_MS)).toBe(2);
  expect(await node.after(MINUTE_MS)).toBe(3);
  expect(await node.record()).toMatchObject({ spec: { state: 'Suspect', holder: { name: 'web', node: 'worker-1' } } });
  expect(node.told).toHaveLength(1);
  expect(node.collector.outliving()).toEqual([await node.record()]);
  expect(node.index.all()).toEqual([await node.record()]);
});

test('a record that is Allocated is not written for this', async () => {
  await using node = await startNode();
  expect(await node.after(61_000)).toBe(1);
  expect(node.collector.outliving()).toHaveLength(1);
  expect(await node.after(60 * MINUTE_MS)).toBe(1);
});

test('what could not be written is tried again the next time', async () => {
  await using node = await startNode();
  await node.suspect();
  node.setAway(true);
  expect(await node.after(61_000)).toBe(1);
  node.setAway(false);
  expect(await node.after(1_000)).toBe(2);
});

test('a record that somebody took meanwhile is left alone', async () => {
  await using node = await startNode();
  await node.suspect();
  await node.collector.collect(false);
  const seen = await node.record();
  const holder = { ...seen.spec.holder, name: 'next', uid: 'next', node: 'worker-2', attachGeneration: 7 };
  await node.ledger.takeOver(seen, { ...seen.spec, state: 'Allocated', holder });
  expect(await node.after(61_000)).toBe(7);
});
