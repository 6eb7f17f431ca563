import { expect, test } from 'vitest';
import type { NetnsLook } from '#agent/node/netns-look.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toCooling } from '#pkg/record/released-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { unsteadyLedger } from '#test/support/unsteady-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });

/** An operator, or a restore of etcd, takes records away behind the agent's back. */
async function loseAll(ledger: Ledger): Promise<void> {
  for (const record of await ledger.list({ limit: 100 })) await ledger.release(record);
}

async function startWith(look: () => NetnsLook = () => 'there') {
  const ledger = createMemoryLedger();
  const made = await startMemoryClusterAgent([POOL], { ledger, look: async () => look() });
  return { made, ledger };
}

test('a lost record of a live sandbox is created again as it was, on every interface', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const first = await agent.add(pod, 'c1');
  const second = (await agent.add(pod, 'c1', { ifName: 'net1' })).filter((it) => !first.includes(it));
  const before = (await agent.records()).map(({ spec }) => spec);
  await loseAll(ledger);
  await agent.refresh();
  expect((await agent.records()).map(({ spec }) => spec)).toEqual(before);
  expect(agent.restored.toSorted()).toEqual([...first, ...second].toSorted());
  // The restored record is the attachment's own: its DEL finds it.
  agent.pods.end(pod);
  await agent.del(pod, 'c1');
  await agent.del(pod, 'c1', { ifName: 'net1' });
  expect(await agent.records()).toEqual([]);
});

test('an agent that was restarted restores what its predecessor answered', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const [address] = await agent.add(pod, 'c1');
  await agent.answered.settled();
  await loseAll(ledger);
  await using next = await startMemoryClusterAgent([POOL], {
    ledger,
    pods: agent.pods,
    answered: agent.answered,
    look: async () => 'there',
  });
  expect((await next.records()).map(({ spec }) => spec.address)).toEqual([address]);
});

test('an address that a restore set back to the rest after an earlier holder is written back when the rest has ended', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const [address = ''] = await agent.add(agent.pods.put('web'), 'c1');
  await loseAll(ledger);
  const earlier = await ledger.create(buildRecord({ address, holder: { name: 'before' } }).spec);
  if (!earlier.taken) throw new Error(`${address} is taken`);
  const { spec } = earlier.record;
  const rest = await ledger.amend(earlier.record, toCooling(spec, new Date('2026-11-16T12:00:00Z')));
  await agent.refresh();
  expect([agent.resting, agent.answered.lost]).toEqual([[address], []]);
  if (rest.done) await ledger.release(rest.record);
  await agent.refresh();
  expect((await agent.records()).map(({ spec }) => [spec.address, spec.holder.name])).toEqual([[address, 'web']]);
});

test('what the agent gave back itself is not restored', async () => {
  const { made } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  await agent.add(pod, 'c1');
  agent.pods.end(pod);
  await agent.del(pod, 'c1');
  agent.pods.put('web');
  await agent.refresh();
  expect(await agent.records()).toEqual([]);
});

test.each([
  { name: 'the namespace is gone', look: 'gone', isAlive: true, restored: 0, kept: 0 },
  { name: 'the pod has ended and its namespace is still there', look: 'there', isAlive: false, restored: 1, kept: 1 },
  { name: 'the pod has ended and its namespace has no link', look: 'bare', isAlive: false, restored: 0, kept: 1 },
  { name: 'the pod has ended and the namespace cannot be seen', look: 'unclear', isAlive: false, restored: 0, kept: 0 },
  { name: 'the pod lives and the namespace cannot be seen', look: 'unclear', isAlive: true, restored: 1, kept: 1 },
] as const)('$name: $restored restored', async ({ look, isAlive, restored, kept }) => {
  const { made, ledger } = await startWith(() => look);
  await using agent = made;
  const pod = agent.pods.put('web');
  await agent.add(pod, 'c1');
  await loseAll(ledger);
  agent.pods.put('web', { isAlive });
  await agent.refresh();
  expect(agent.restored).toHaveLength(restored);
  expect(agent.answered.all()).toHaveLength(kept);
});

test('another pod of the same name is not the one that was answered', async () => {
  const { made, ledger } = await startWith(() => 'unclear');
  await using agent = made;
  await agent.add(agent.pods.put('web'), 'c1');
  await loseAll(ledger);
  agent.pods.put('web', { uid: 'another' });
  await agent.refresh();
  expect(agent.restored).toEqual([]);
});

test('an address that another holder has by now is told as lost, and the loser gets another one', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const [address = ''] = await agent.add(pod, 'c1');
  await loseAll(ledger);
  const taken = await takenByAnother(ledger, address);
  await agent.refresh();
  expect(agent.answered.lost).toMatchObject([{ record: { name: address }, now: { uid: taken.uid } }]);
  expect(await agent.add(pod, 'c2')).not.toContain(address);
  expect(await ledger.get(address)).toEqual(taken);
  agent.pods.end(pod);
  await agent.del(pod, 'c2');
});

test('the record of a pod that the restore took away protects its address until its DEL', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const [address] = await agent.add(pod, 'c1');
  await loseAll(ledger);
  agent.pods.remove(pod);
  await agent.refresh();
  expect((await agent.records()).map(({ spec }) => spec.address)).toEqual([address]);
  await agent.del(pod, 'c1');
  expect(await agent.records()).toEqual([]);
});

test('an address of an ended pod that was taken over meanwhile is not told as lost', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const [address = ''] = await agent.add(pod, 'c1');
  await loseAll(ledger);
  await takenByAnother(ledger, address);
  agent.pods.put('web', { isAlive: false });
  await agent.refresh();
  expect(agent.answered.lost).toEqual([]);
});

test('the same workload on another node is no loss: it has moved there', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const [address = ''] = await agent.add(agent.pods.put('web'), 'c1');
  await loseAll(ledger);
  await takenByAnother(ledger, address, { name: 'web', uid: 'next' });
  await agent.refresh();
  expect(agent.answered.lost).toEqual([]);
  expect(agent.answered.all()).toEqual([]);
});

test('a static pod is restored without its object', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const holder = {
    kind: 'Pod',
    namespace: 'kube-system',
    name: 'dns',
    uid: 'file',
    node: 'worker-1',
    static: true,
  } as const;
  const { record } = await ledger.create(buildRecord({ address: '10.0.0.12', holder }).spec);
  if (record === null) throw new Error('it was not created');
  agent.answered.keep(record);
  await loseAll(ledger);
  await agent.refresh();
  expect(agent.restored).toEqual(['10.0.0.12']);
});

test('records of living pods that an older agent answered are kept from now on', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const { namespace, name, uid } = pod;
  await ledger.create(
    buildRecord({ address: '10.0.0.12', holder: { kind: 'Pod', namespace, name, uid, node: 'worker-1' } }).spec,
  );
  await agent.refresh();
  await loseAll(ledger);
  await agent.refresh();
  expect(agent.restored).toEqual(['10.0.0.12']);
});

test('the record of an earlier sandbox that a restore brought back names the live one again', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const [address = ''] = await agent.add(pod, 'c1');
  const [backup] = await agent.records();
  await agent.del(pod, 'c1');
  expect(await agent.add(pod, 'c2')).toEqual([address]);
  await loseAll(ledger);
  await ledger.create((backup as IpRecord).spec);
  // Its object is gone too, and its kubelet cannot stop it.
  agent.pods.end(pod);
  await agent.refresh();
  expect((await ledger.get(address))?.spec.holder.containerID).toBe('c2');
  await agent.refresh();
  expect((await ledger.get(address))?.spec.holder.containerID).toBe('c2');
  await agent.del(pod, 'c2');
  expect(await agent.records()).toEqual([]);
});

test('a restored record of another pod of this node is told as lost', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const [address = ''] = await agent.add(agent.pods.put('web'), 'c1');
  await loseAll(ledger);
  const taken = await takenByAnother(ledger, address, { node: 'worker-1' });
  await agent.refresh();
  expect(agent.answered.lost).toMatchObject([{ record: { name: address }, now: { uid: taken.uid } }]);
});

test('a restored record is not released by an abandoned create, be it of the restore or of the ADD before it', async () => {
  const below = createMemoryLedger();
  const network = unsteadyLedger(below);
  await using agent = await startMemoryClusterAgent([POOL], { ledger: network.ledger, look: async () => 'there' });
  const pod = agent.pods.put('web');
  const [address = ''] = await agent.add(pod, 'c1');
  const left = { kind: 'abandoned', name: address, uid: pod.uid, containerID: 'c1', interface: 'eth0' } as const;
  await agent.journal.write({ ...left, isChange: false, spared: 'lost', at: new Date().toISOString() });
  await loseAll(below);
  network.weather = 'mute';
  await expect(agent.refresh()).rejects.toThrow('no answer');
  network.weather = 'fine';
  await agent.settleJournal();
  expect((await agent.records()).map(({ name }) => name)).toEqual([address]);
});

test('one record that cannot be created keeps no other from being restored, and the failure is told', async () => {
  const below = createMemoryLedger();
  let refused = '';
  const ledger = ledgerWith(below, {
    create: async (spec) => {
      if (spec.address === refused) throw new IpamError('outcome-unknown', 'no answer');
      return await below.create(spec);
    },
  });
  await using agent = await startMemoryClusterAgent([POOL], { ledger, look: async () => 'there' });
  const [first = ''] = await agent.add(agent.pods.put('first'), 'c1');
  const second = await agent.add(agent.pods.put('second'), 'c2');
  await loseAll(below);
  refused = first;
  await expect(agent.refresh()).rejects.toThrow('no answer');
  expect(agent.restored).toEqual(second);
});

test('a lost record that exists and cannot be read does not keep the agent from starting', async () => {
  const below = createMemoryLedger();
  let isUnreadable = false;
  const ledger = ledgerWith(below, {
    create: async (spec) => (isUnreadable ? { taken: false, record: null } : await below.create(spec)),
  });
  await using agent = await startMemoryClusterAgent([POOL], { ledger, look: async () => 'there' });
  await agent.add(agent.pods.put('web'), 'c1');
  await loseAll(below);
  isUnreadable = true;
  await agent.refresh();
  expect(agent.answered.all()).toHaveLength(1);
});

test('the ADD of the next sandbox waits for the restore, and gets the same address', async () => {
  const below = createMemoryLedger();
  const creating = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  let isSlow = false;
  const ledger = ledgerWith(below, {
    create: async (spec) => {
      if (isSlow && spec.holder.containerID === 'c1') {
        creating.resolve();
        await mayEnd.promise;
      }
      return await below.create(spec);
    },
  });
  await using agent = await startMemoryClusterAgent([POOL], { ledger, look: async () => 'there' });
  const pod = agent.pods.put('web');
  const addresses = await agent.add(pod, 'c1');
  await loseAll(below);
  isSlow = true;
  const refreshing = agent.refresh();
  await creating.promise;
  const adding = agent.add(pod, 'c2');
  await new Promise((resolve) => setImmediate(resolve));
  mayEnd.resolve();
  await refreshing;
  expect(await adding).toEqual(addresses);
  expect(await agent.records()).toHaveLength(1);
});

test('a record that the controller created again gets its sandbox back, so that its DEL finds it', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const pod = agent.pods.put('web');
  const [address = ''] = await agent.add(pod, 'c1');
  const [before] = await agent.records();
  if (before === undefined) throw new Error('there is no record');
  const { containerID: _, ...holder } = before.spec.holder;
  await loseAll(ledger);
  await ledger.create({ ...before.spec, holder });
  await agent.refresh();
  expect((await ledger.get(address))?.spec.holder).toEqual({ ...before.spec.holder, attachGeneration: 2 });
  expect(agent.answered.all()).toEqual(await agent.records());
  agent.pods.end(pod);
  await agent.del(pod, 'c1');
  expect(await agent.records()).toEqual([]);
});

test('a second record of an interface does not replace the one that was answered', async () => {
  const { made, ledger } = await startWith();
  await using agent = made;
  const addresses = await agent.add(agent.pods.put('web'), 'c1');
  const [answered] = await agent.records();
  if (answered === undefined) throw new Error('there is no record');
  const holder = { ...answered.spec.holder, containerID: 'c0' };
  await ledger.create({ ...answered.spec, address: '10.0.0.19', holder });
  await agent.refresh();
  expect(agent.answered.all().map(({ name }) => name)).toEqual(addresses);
});

async function takenByAnother(ledger: Ledger, address: string, holder = {}): Promise<IpRecord> {
  const other = { kind: 'Pod', namespace: 'prod', name: 'other', uid: 'other', node: 'worker-2', ...holder } as const;
  const { record } = await ledger.create(buildRecord({ address, holder: other }).spec);
  if (record === null) throw new Error(`${address} was not taken`);
  return record;
}
