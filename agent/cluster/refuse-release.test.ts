import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

/** As ipledgerctl does: what is shown is what is released. */
async function release({ agent }: MemoryClusterAgent, address: string) {
  const { records, asOfMs } = await agent.inspector.who(address, undefined);
  const [shown] = records;
  if (shown === undefined) throw new Error(`${address} has no record`);
  const { name, uid, resourceVersion } = shown;
  return await agent.release({ name, uid, resourceVersion, asOfMs });
}

async function write({ ledger }: MemoryClusterAgent, state: RecordState, node: string): Promise<void> {
  const spec = heldBy(specOf('10.0.0.10'), { node });
  await amended(ledger, await taken(ledger, spec), inState(spec, state));
}

test.each<{ state: RecordState; node: string; why: string }>([
  { state: 'Retained', node: 'worker-1', why: 'its record is Retained' },
  { state: 'Cooling', node: 'worker-1', why: 'its record is Cooling' },
  { state: 'Quarantined', node: 'worker-1', why: 'its record is Quarantined' },
  { state: 'Allocated', node: 'worker-2', why: 'its record is of node worker-2' },
  { state: 'Quarantined', node: 'worker-2', why: 'its record is of node worker-2' },
  { state: 'Allocated', node: '', why: 'its record is of no node' },
])(
  'what an agent of a cluster may not delete is refused at once, and nothing is owed: $state of "$node"',
  async (it) => {
    await using made = await startMemoryClusterAgent([]);
    await write(made, it.state, it.node);
    await made.refresh();
    await expect(release(made, '10.0.0.10')).rejects.toMatchObject({
      reason: 'bad-input',
      message: expect.stringContaining(`10.0.0.10 is not released: ${it.why}`) as string,
      details: 'Ask the API server for it: ipledgerctl release 10.0.0.10 --kubeconfig FILE',
    });
    expect(await made.records()).toHaveLength(1);
    expect(made.journal.all()).toEqual([]);
  },
);

test('the command that works names the domain where there are several', async () => {
  await using made = await startMemoryClusterAgent([]);
  await taken(made.ledger, heldBy(specOf('10.0.0.10', { domain: 'blue' }), { node: 'worker-2' }));
  made.catalog.change([buildPool({ name: 'blue', domain: 'blue' })]);
  await expect(release(made, '10.0.0.10')).rejects.toMatchObject({
    details: 'Ask the API server for it: ipledgerctl release 10.0.0.10 --domain blue --kubeconfig FILE',
  });
});

test.each<{ state: RecordState; isKnown: boolean }>([
  { state: 'Allocated', isKnown: true },
  { state: 'Suspect', isKnown: true },
  { state: 'Allocated', isKnown: false },
])('what is in use on its own node it releases: $state, in its index: $isKnown', async ({ state, isKnown }) => {
  let nowMs = 0;
  await using made = await startMemoryClusterAgent([], { nowMs: () => nowMs });
  await write(made, state, 'worker-1');
  if (isKnown) await made.refresh();
  nowMs = 1;
  expect(await release(made, '10.0.0.10')).toEqual({ released: true });
  expect(await made.records()).toEqual([]);
});

test.each([
  { name: 'the pod and its sandbox are alive', look: 'there', isAlive: true, isReleased: false },
  { name: 'the sandbox is gone', look: 'gone', isAlive: true, isReleased: true },
  { name: 'the pod has ended', look: 'there', isAlive: false, isReleased: true },
] as const)('an operator releases what is not in use: $name', async ({ look, isAlive, isReleased }) => {
  await using made = await startMemoryClusterAgent([buildPool({ name: 'v4', isDefault: true })], {
    look: async () => look,
  });
  const pod = made.pods.put('web');
  const [address = ''] = await made.add(pod, 'c1');
  if (!isAlive) made.pods.put('web', { isAlive: false });
  await sleep(5); // what is shown is newer than the record
  const releasing = release(made, address);
  if (isReleased) expect(await releasing).toEqual({ released: true });
  else
    await expect(releasing).rejects.toMatchObject({
      reason: 'bad-input',
      details: expect.stringContaining('Delete the pod first') as string,
    });
  expect(await made.records()).toHaveLength(isReleased ? 0 : 1);
});
