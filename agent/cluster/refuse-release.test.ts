import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

/** As ipledgerctl does: what is shown is what is released. */
async function release({ agent }: MemoryClusterAgent, address: string, althoughInDoubt = false) {
  const { records, asOfMs } = await agent.inspector.who(address, undefined);
  const [shown] = records;
  if (shown === undefined) throw new Error(`${address} has no record`);
  const { name, uid, resourceVersion } = shown;
  return await agent.release({ name, uid, resourceVersion, asOfMs, althoughInDoubt });
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
])(
  'what was on its own node it releases on an explicit word: $state, in its index: $isKnown',
  async ({ state, isKnown }) => {
    let nowMs = 0;
    await using made = await startMemoryClusterAgent([], { nowMs: () => nowMs });
    await write(made, state, 'worker-1');
    if (isKnown) await made.refresh();
    nowMs = 1;
    await expect(release(made, '10.0.0.10')).rejects.toMatchObject({
      reason: 'bad-input',
      message: '10.0.0.10 is not released: this agent cannot prove that its sandbox is gone',
      details: expect.stringContaining('--although-in-doubt') as string,
    });
    expect(await release(made, '10.0.0.10', true)).toEqual({ released: true });
    expect(await made.records()).toEqual([]);
  },
);

const IN_USE = 'is alive, and so is its sandbox';
const OUTLIVES = 'no living pod has it, but its network namespace';
const UNCLEAR = 'this agent cannot prove that its sandbox is gone';

test.each([
  { name: 'pod and sandbox are alive', look: 'there', isAlive: true, refusal: IN_USE, inDoubt: IN_USE },
  { name: 'the sandbox is gone', look: 'gone', isAlive: true, refusal: null, inDoubt: null },
  { name: 'the sandbox outlives its pod', look: 'there', isAlive: false, refusal: OUTLIVES, inDoubt: null },
  { name: 'the sandbox of an ended pod has no link', look: 'bare', isAlive: false, refusal: null, inDoubt: null },
  { name: 'the sandbox of a living pod has no link yet', look: 'bare', isAlive: true, refusal: UNCLEAR, inDoubt: null },
  { name: 'nothing is known of the sandbox', look: 'unclear', isAlive: false, refusal: UNCLEAR, inDoubt: null },
] as const)('without proof an operator needs an explicit word: $name', async ({ look, isAlive, refusal, inDoubt }) => {
  await using made = await startMemoryClusterAgent([buildPool({ name: 'v4', isDefault: true })], {
    look: async () => look,
  });
  const pod = made.pods.put('web');
  const [address = ''] = await made.add(pod, 'c1');
  if (!isAlive) made.pods.put('web', { isAlive: false });
  await sleep(5); // what is shown is newer than the record
  for (const [althoughInDoubt, refused] of [
    [false, refusal],
    [true, inDoubt],
  ] as const) {
    const releasing = release(made, address, althoughInDoubt);
    if (refused === null) {
      expect(await releasing).toEqual({ released: true });
      expect(await made.records()).toEqual([]);
      return;
    }
    await expect(releasing).rejects.toMatchObject({
      reason: 'bad-input',
      message: expect.stringContaining(refused) as string,
    });
    expect(await made.records()).toHaveLength(1);
  }
});
