import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { NO_PROBING } from '#test/support/memory-agent.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.11'], isDefault: true });
const WEB = { kind: 'Pod', namespace: 'prod', name: 'web', uid: 'uid-of-web', node: 'worker-1' } as const;

function landed(address: string, containerID: string) {
  const holder = { ...WEB, containerID, netns: `/run/netns/${containerID}` };
  return buildRecord({ address, pool: { kind: 'SpiderIPPool', name: 'v4', uid: POOL.uid }, holder }).spec;
}

test('an address that landed late for the sandbox before becomes that of the sandbox that asks', async () => {
  const ledger = createMemoryLedger();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const [taken] = await made.add(made.pods.put('other'), 'c0');
  const free = taken === '10.0.0.10' ? '10.0.0.11' : '10.0.0.10';
  await ledger.create(landed(free, 'c1'));
  const pod = made.pods.put('web');
  expect(await made.add(pod, 'c2')).toEqual([free]);
  expect((await ledger.get(free))?.spec.holder).toMatchObject({ containerID: 'c2', attachGeneration: 2 });
  made.pods.end(pod);
  await made.del(pod, 'c2');
  expect(await ledger.get(free)).toBeNull();
});

test('one that somebody else took over meanwhile is lost, and another is taken', async () => {
  const below = createMemoryLedger();
  const ledger = ledgerWith(below, {
    amend: async (seen, next) => {
      const { done } = await below.release(seen);
      await below.create({
        ...landed(seen.spec.address, 'x'),
        holder: { ...next.holder, name: 'thief', uid: 'thief' },
      });
      expect(done).toBe(true);
      return { done: false, because: 'changed' };
    },
  });
  const three = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.12'], isDefault: true });
  await using made = await startMemoryClusterAgent([three], { ledger });
  const [taken] = await made.add(made.pods.put('other'), 'c0');
  const [stolen = '', left] = ['10.0.0.10', '10.0.0.11', '10.0.0.12'].filter((address) => address !== taken);
  await below.create(landed(stolen, 'c1'));
  expect(await made.add(made.pods.put('web'), 'c2')).toEqual([left]);
  expect((await made.records()).map(({ spec }) => spec.holder.name).sort()).toEqual(['other', 'thief', 'web']);
});

test('an address whose quarantine could not be written is found by the DEL that follows', async () => {
  const below = createMemoryLedger();
  const away = new IpamError('api-server-unavailable', 'the API server is away');
  const ledger = ledgerWith(below, { amend: () => Promise.reject(away) });
  const conflict = { kind: 'conflict', mac: '02:00:00:00:00:99' } as const;
  const prober = new ScriptedProber({ '10.0.0.10': conflict, '10.0.0.11': conflict });
  const probeSettings = { ...NO_PROBING, detectConflict: true };
  await using made = await startMemoryClusterAgent([POOL], { ledger, prober, probeSettings });
  const pod = made.pods.put('web');
  await expect(made.add(pod, 'c1')).rejects.toThrow('the API server is away');
  made.pods.end(pod);
  await made.del(pod, 'c1');
  expect(await made.records()).toEqual([]);
});
