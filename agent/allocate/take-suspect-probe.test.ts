import { expect, test } from 'vitest';
import type { ProbeTarget, ProbeVerdict } from '#agent/probe/probe-target.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { addArgs, NO_PROBING, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.11'], gateway: '10.0.0.1', isDefault: true });

/** Two addresses: one in use, one whose holder on another node is only suspected to be gone. */
async function withSuspect() {
  const ledger = createMemoryLedger();
  const holder = { kind: 'Pod', node: 'worker-2', uid: 'lost' } as const;
  const pool = { kind: 'SpiderIPPool', name: 'v4', uid: POOL.uid } as const;
  await ledger.create(buildRecord({ address: '10.0.0.10', pool }).spec);
  const { record } = await ledger.create(buildRecord({ address: '10.0.0.11', pool, holder }).spec);
  if (record !== null) await ledger.amend(record, { ...record.spec, state: 'Suspect' });
  return { ledger, suspect: await ledger.get('10.0.0.11') };
}

class RecordingProber extends ScriptedProber {
  readonly targets: ProbeTarget[] = [];

  override async probe(target: ProbeTarget): Promise<ProbeVerdict> {
    this.targets.push(target);
    return await super.probe(target);
  }
}

test.each([{ detectConflict: false }, { detectConflict: true }])(
  'the last address of a full pool is taken from a suspected holder after a probe, whatever the switch says: %o',
  async ({ detectConflict }) => {
    const { ledger } = await withSuspect();
    const prober = new RecordingProber();
    const probeSettings = { ...NO_PROBING, detectConflict };
    await using made = await startMemoryAgent([{ ...POOL, detectConflict: false }], { ledger, prober, probeSettings });
    const { ips } = await made.agent.add(addArgs('c1'), newCall());
    expect(ips).toMatchObject([{ address: '10.0.0.11/24' }]);
    const target = { interface: 'eth0', detectConflict: true };
    expect(prober.targets).toMatchObject([target, target, target]);
    expect(await ledger.get('10.0.0.11')).toMatchObject({ spec: { state: 'Allocated', holder: { uid: 'c1' } } });
  },
);

const NOT_SILENT: readonly ProbeVerdict[] = [
  { kind: 'conflict', mac: '02:00:00:00:00:99' },
  { kind: 'skipped', why: 'no link yet' },
  { kind: 'failed', why: 'eth0 went down' },
];

test.each(NOT_SILENT)(
  'an address that is not proven silent stays with its suspected holder: $kind',
  async (verdict) => {
    const { ledger, suspect } = await withSuspect();
    const prober = new ScriptedProber({ '10.0.0.11': verdict });
    await using made = await startMemoryAgent([POOL], { ledger, prober });
    await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({ reason: 'pools-exhausted' });
    expect(await ledger.get('10.0.0.11')).toEqual(suspect);
  },
);

test('an agent that may not probe takes no address of a suspected holder', async () => {
  const { ledger, suspect } = await withSuspect();
  await using made = await startMemoryAgent([POOL], { ledger, prober: null });
  await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({ reason: 'pools-exhausted' });
  expect(await ledger.get('10.0.0.11')).toEqual(suspect);
});

test('a dead gateway fails the ADD here as everywhere, and the suspected holder keeps its record', async () => {
  const { ledger, suspect } = await withSuspect();
  const prober = new RecordingProber({ '10.0.0.11': { kind: 'gateway-unreachable' } });
  const probeSettings = { ...NO_PROBING, detectGateway: true };
  await using made = await startMemoryAgent([POOL], { ledger, prober, probeSettings });
  await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({
    reason: 'gateway-unreachable',
    message: expect.stringContaining('10.0.0.1 does not answer on eth0') as string,
  });
  expect(prober.targets).toMatchObject([{ detectConflict: true, detectGateway: true, gateway: POOL.gateway }]);
  expect(await ledger.get('10.0.0.11')).toEqual(suspect);
});
