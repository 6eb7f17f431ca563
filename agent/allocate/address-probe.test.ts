import { expect, test } from 'vitest';
import type { ProbeVerdict } from '#agent/probe/probe-target.ts';
import { NO_METRICS } from '#agent/report/agent-metrics.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, NO_PROBING, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.29'], gateway: '10.0.0.1', isDefault: true });
const PROBING = { ...NO_PROBING, detectConflict: true };
const MAC = '02:00:00:00:00:99';

function squatting(first: number, count: number): Record<string, ProbeVerdict> {
  const addresses = Array.from({ length: count }, (_, at) => `10.0.0.${first + at}`);
  return Object.fromEntries(addresses.map((address) => [address, { kind: 'conflict', mac: MAC }]));
}

test('a free address is given and announced, after one probe', async () => {
  const prober = new ScriptedProber();
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING });
  const { ips } = await made.agent.add(addArgs('c1'), newCall());
  expect(prober.probed.map((address) => `${address}/24`)).toEqual(ips.map((ip) => ip.address));
  expect(prober.announced).toEqual(prober.probed);
  await made.agent.add(addArgs('c1'), newCall());
  expect(prober.probed).toHaveLength(1);
});

test('addresses of foreign hosts are quarantined with their MAC, and the next one is given', async () => {
  const prober = new ScriptedProber(squatting(10, 17));
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING });
  for (let attempt = 0; attempt < 3; attempt += 1) await made.agent.add(addArgs('c1'), newCall()).catch(() => {});
  const { ips } = await made.agent.add(addArgs('c1'), newCall());
  expect(['10.0.0.27/24', '10.0.0.28/24', '10.0.0.29/24']).toContain(ips[0]?.address);
  expect(new Set(prober.probed).size).toBe(prober.probed.length);
  const records = await made.ledger.list({ limit: 50 });
  const quarantined = records.filter(({ spec }) => spec.state === 'Quarantined');
  expect(quarantined.every(({ spec }) => spec.holder.kind === 'Conflict' && spec.holder.name === MAC)).toBe(true);
  expect(records.filter(({ spec }) => spec.state === 'Allocated')).toHaveLength(1);
});

test('eight conflicts in a row end the call, and it says who squats', async () => {
  const prober = new ScriptedProber(squatting(10, 20));
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING });
  await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({
    reason: 'address-conflict',
    details: expect.stringContaining(MAC) as string,
  });
  expect(prober.probed).toHaveLength(8);
});

test('a quarantine ends by its time', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const prober = new ScriptedProber(squatting(10, 20));
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING, now: () => now });
  await made.agent.add(addArgs('c1'), newCall()).catch(() => {});
  expect((await made.agent.collect(false)).freed).toEqual([]);
  now = new Date('2026-01-01T00:15:00Z');
  expect((await made.agent.collect(false)).freed).toHaveLength(8);
});

test('block: the ADD fails at the first conflict and leaves nothing behind', async () => {
  const prober = new ScriptedProber(squatting(10, 20));
  const probeSettings = { ...PROBING, onConflict: 'block' as const };
  await using made = await startMemoryAgent([POOL], { prober, probeSettings });
  await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({ reason: 'address-conflict' });
  expect(await made.ledger.list({ limit: 50 })).toEqual([]);
});

test.each([
  {
    name: 'gateway',
    verdict: { kind: 'gateway-unreachable' as const },
    reason: 'gateway-unreachable',
    says: '10.0.0.1',
  },
  {
    name: 'failure',
    verdict: { kind: 'failed' as const, why: 'eth0 went down' },
    reason: 'io-failure',
    says: 'eth0 went down',
  },
])('a probe that ends in $name gives the address back and says so', async ({ verdict, reason, says }) => {
  const prober = new ScriptedProber(
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`10.0.0.${10 + at}`, verdict])),
  );
  const probeSettings = { ...PROBING, detectGateway: true };
  await using made = await startMemoryAgent([POOL], { prober, probeSettings });
  await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({
    reason,
    message: expect.stringContaining(says) as string,
  });
  expect(await made.ledger.list({ limit: 50 })).toEqual([]);
});

test('an address that was asked for and is squatted is refused', async () => {
  const prober = new ScriptedProber(squatting(10, 1));
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING });
  await expect(made.agent.add(addArgs('c1', { requestedIPs: ['10.0.0.10'] }), newCall())).rejects.toMatchObject({
    reason: 'address-refused',
    message: expect.stringContaining(MAC) as string,
  });
});

test('a missing link is no reason to fail', async () => {
  const prober = new ScriptedProber();
  prober.probe = async () => ({ kind: 'skipped', why: 'no link yet' });
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING });
  expect((await made.agent.add(addArgs('c1'), newCall())).ips).toHaveLength(1);
});

test.each([
  { name: 'off in the agent, on in the pool', agent: false, pool: true, probes: 1 },
  { name: 'on in the agent, off in the pool', agent: true, pool: false, probes: 0 },
  { name: 'off in both', agent: false, pool: null, probes: 0 },
])('the pool has the last word: $name', async ({ agent, pool, probes }) => {
  const prober = new ScriptedProber();
  const probeSettings = { ...NO_PROBING, detectConflict: agent };
  await using made = await startMemoryAgent([{ ...POOL, detectConflict: pool }], { prober, probeSettings });
  await made.agent.add(addArgs('c1'), newCall());
  expect(prober.probed).toHaveLength(probes);
});

test('a record from before a crash is probed before it is answered; squatted meanwhile, another is given', async () => {
  const ledger = createMemoryLedger();
  await using before = await startMemoryAgent([POOL], { ledger });
  const first = (await before.agent.add(addArgs('c1'), newCall())).ips[0]?.address.replace('/24', '') ?? '';
  const prober = new ScriptedProber({ [first]: { kind: 'conflict', mac: MAC } });
  await using after = await startMemoryAgent([POOL], { ledger, prober, probeSettings: PROBING });
  const second = (await after.agent.add(addArgs('c1'), newCall())).ips[0]?.address;
  expect(prober.probed[0]).toBe(first);
  expect(second).not.toBe(`${first}/24`);
  await after.agent.del(delArgs('c1'));
  expect((await ledger.list({ limit: 9 })).map(({ spec }) => spec.state)).toEqual(['Quarantined']);
});

test.each([{ detectConflict: true }, { detectGateway: true }])(
  'a pool that asks for probing is not served unprobed by an agent that may not probe: %o',
  async (asked) => {
    await using made = await startMemoryAgent([{ ...POOL, ...asked }], { prober: null });
    await expect(made.agent.add(addArgs('c1'), newCall())).rejects.toMatchObject({
      reason: 'io-failure',
      message: expect.stringContaining('this agent may not probe') as string,
    });
    expect(await made.ledger.list({ limit: 9 })).toEqual([]);
  },
);

test('a conflict that cannot be written down is no reason to give the address out, now or at the next try', async () => {
  const below = createMemoryLedger();
  let isAway = true;
  const ledger = ledgerWith(below, {
    amend: async (seen, next) => {
      if (isAway) throw new IpamError('api-server-unavailable', 'the ledger is away');
      return await below.amend(seen, next);
    },
  });
  const prober = new ScriptedProber(squatting(10, 20));
  await using made = await startMemoryAgent([POOL], { ledger, prober, probeSettings: PROBING });
  for (const container of ['c1', 'c1', 'c2']) {
    await expect(made.agent.add(addArgs(container), newCall())).rejects.toMatchObject({
      reason: 'api-server-unavailable',
    });
  }
  isAway = false;
  const squatted = prober.probed[0] ?? '';
  for (const address of Object.keys(prober.verdicts)) if (address !== squatted) delete prober.verdicts[address];
  const { ips } = await made.agent.add(addArgs('c1'), newCall());
  expect(ips[0]?.address).not.toBe(`${squatted}/24`);
  expect(await below.get(squatted)).toMatchObject({ spec: { state: 'Quarantined', holder: { name: MAC } } });
});

test('a caller that goes away during the probe leaves no address behind', async () => {
  const gone = new AbortController();
  const prober = new ScriptedProber();
  prober.probe = async (_target, signal?: AbortSignal) => {
    gone.abort();
    return signal?.aborted === true ? { kind: 'failed', why: 'the caller gave up' } : { kind: 'free' };
  };
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING });
  await expect(made.agent.add(addArgs('c1'), newCall(30_000, gone.signal))).rejects.toThrow('the caller gave up');
  expect(await made.ledger.list({ limit: 9 })).toEqual([]);
});

test('a namespace that the agent does not see is no reason to fail: the address is given, and counted as not probed', async () => {
  const verdicts: string[] = [];
  const metrics = { ...NO_METRICS, probe: (verdict: string) => void verdicts.push(verdict) };
  const prober = new ScriptedProber();
  await using made = await startMemoryAgent([POOL], { prober, probeSettings: PROBING, metrics });
  const { ips } = await made.agent.add(addArgs('c1', { netNamespace: '/proc/4000000000/ns/net' }), newCall());
  expect([ips.length, prober.probed, verdicts]).toEqual([1, [], ['skipped']]);
});
