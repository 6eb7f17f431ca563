import { expect, test } from 'vitest';
import type { CheckArgs } from '#pkg/agentapi/wire.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { delArgs } from '#test/support/memory-agent.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOLS = [
  buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true }),
  buildPool({ name: 'v6', subnet: 'fd00::/64', isDefault: true }),
];
const VMI = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'v-1' };
const ANNOTATIONS = { 'kubevirt.io/migrationJobName': 'job-1' };

/** A VMI that runs on worker-9 and migrates to worker-1; the ADD of its new launcher, c2, was answered. */
async function startMigrating(annotations: Readonly<Record<string, string>> = ANNOTATIONS) {
  const ledger = createMemoryLedger();
  await using source = await startMemoryClusterAgent(POOLS, { ledger, node: 'worker-9' });
  const answered = await source.add(source.pods.put('launcher-1', { controller: VMI }), 'c1');
  const made = await startMemoryClusterAgent(POOLS, { ledger });
  const target = made.pods.put('launcher-2', { controller: VMI, annotations });
  if (annotations === ANNOTATIONS) expect(await made.add(target, 'c2')).toEqual(answered);
  const shown = answered.map((address) => ({ address: `${address}/${address.includes(':') ? 64 : 24}` }));
  const check = (containerID: string, ips: CheckArgs['ips'] = shown) => {
    const pod = { podNamespace: 'prod', podName: 'launcher-2', podUID: target.uid };
    return made.agent.check({ ...delArgs(containerID, pod), ips });
  };
  const amendAll = async (change: (record: IpRecord) => IpRecord['spec']) => {
    for (const record of await made.records()) await made.ledger.amend(record, change(record));
  };
  return { ...made, shown, check, amendAll };
}

test("CHECK: the launcher that a VMI migrates to has the VMI's addresses, which the source still holds", async () => {
  await using made = await startMigrating();
  expect(made.shown).toHaveLength(2);
  await expect(made.check('c2')).resolves.toBeUndefined();
});

test.each([
  { name: 'the DEL of its source has retained them', state: 'Retained', node: 'worker-9' },
  { name: 'the controller has pointed the record to the new launcher', state: 'Allocated', node: 'worker-1' },
] as const)('CHECK: so it has when $name', async ({ state, node }) => {
  await using made = await startMigrating();
  await made.amendAll(({ spec }) => {
    const { containerID: _c, netns: _n, ...holder } = spec.holder;
    return { ...spec, state, holder: { ...holder, node } };
  });
  await expect(made.check('c2')).resolves.toBeUndefined();
});

test.each([
  {
    name: 'the machine has another address',
    ips: [{ address: '10.0.0.99/24' }],
    problem: /holds 10\.0\.0\.1\d\/24, but prevResult shows 10\.0\.0\.99/,
  },
  { name: 'prevResult shows none', ips: [], problem: /no address is recorded for eth0 of container c2/ },
])('CHECK fails for the new launcher where $name', async ({ ips, problem }) => {
  await using made = await startMigrating();
  await expect(made.check('c2', ips)).rejects.toMatchObject({
    reason: 'check-failed',
    message: expect.stringMatching(problem) as string,
  });
});

test('CHECK fails when the VMI does not hold the address any more', async () => {
  await using made = await startMigrating();
  for (const record of await made.records()) await made.ledger.release(record);
  await expect(made.check('c2')).rejects.toMatchObject({ reason: 'check-failed' });
});

test.each([
  { name: 'the machine did not migrate to', annotations: {}, podName: 'launcher-2' },
  { name: 'is gone', annotations: ANNOTATIONS, podName: 'launcher-3' },
])('CHECK fails for a launcher that $name', async ({ annotations, podName }) => {
  await using made = await startMigrating(annotations);
  const who = { podNamespace: 'prod', podName, podUID: `uid-of-${podName}` };
  const checking = made.agent.check({ ...delArgs('c2', who), ips: made.shown });
  const message = expect.stringContaining('no address is recorded') as string;
  await expect(checking).rejects.toMatchObject({ reason: 'check-failed', message });
});
