import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { NO_METRICS } from '#agent/report/agent-metrics.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';
import { useLedgerStage } from './ledger-stage.ts';

const stage = useLedgerStage();
const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.99'], isDefault: true });
const ADDRESS = '10.0.0.77';
/** An hour is three seconds here. */
const TIMING = { ageMs: 3_000, lookEveryMs: 200, roundGapMs: 200, reloadEveryMs: 500 };

let freed = 0;
beforeEach(() => {
  freed = 0;
});

const ledgerOf = (node: string) => openKubernetesLedger(stage.cluster.agent({ node }));

/** An agent with the token of its node and a living pod of the pool, which sweeps until the test ends. */
async function startSweeping(node: string, ledger: Ledger = ledgerOf(node)): Promise<void> {
  const prober = new ScriptedProber();
  const metrics = {
    ...NO_METRICS,
    suspectFreed: () => {
      freed += 1;
    },
  };
  const agent = await startMemoryClusterAgent([POOL], { ledger, prober, node, metrics, sweepTiming: TIMING });
  await agent.add(agent.pods.put(`web-on-${node}`), `c-${node}`);
  const stop = new AbortController();
  const sweeping = (async () => {
    while (!stop.signal.aborted) {
      await agent.sweep?.step(stop.signal);
      await sleep(50);
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await Promise.race([sweeping, sleep(1_000)]);
    await agent[Symbol.asyncDispose]();
  });
}

/** The address of a lost pod of worker-0, which the controller suspects. */
async function suspect(): Promise<IpRecord> {
  const holder = { kind: 'Pod', namespace: 'prod', name: 'lost', uid: 'lost', node: 'worker-0' } as const;
  const pool = { kind: 'SpiderIPPool', name: 'v4', uid: POOL.uid } as const;
  const { record } = await ledgerOf('worker-0').create(buildRecord({ address: ADDRESS, pool, holder }).spec);
  if (record === null) throw new Error('it is not created');
  return await amended(stage.onlooker, record, { ...record.spec, state: 'Suspect' });
}

async function amended(ledger: Ledger, seen: IpRecord, next: IpRecord['spec']): Promise<IpRecord> {
  const outcome = await ledger.amend(seen, next);
  if (!outcome.done) throw new Error(`it is ${outcome.because}`);
  return outcome.record;
}

async function untilGone(): Promise<void> {
  await expect.poll(() => stage.onlooker.get(ADDRESS), { timeout: 20_000, interval: 100 }).toBeNull();
}

test('two agents sweep, and an address of a third node that nobody answers on is freed once', async () => {
  await suspect();
  const startedAtMs = performance.now();
  await Promise.all([startSweeping('worker-1'), startSweeping('worker-2')]);
  await untilGone();
  expect(performance.now() - startedAtMs).toBeGreaterThan(TIMING.ageMs + 2 * TIMING.roundGapMs);
  expect(freed).toBe(1);
});

test('it stays while the agent of its node shows that it sees the sandbox, and is freed when that ends', async () => {
  let record = await suspect();
  const own = ledgerOf('worker-0');
  await startSweeping('worker-1');
  for (let times = 0; times < 8; times += 1) {
    await sleep(1_000);
    const { holder } = record.spec;
    record = await amended(own, record, {
      ...record.spec,
      holder: { ...holder, attachGeneration: holder.attachGeneration + 1 },
    });
  }
  expect(freed).toBe(0);
  await untilGone();
});

test('what an agent that died between its two writes left behind is suspected again, and another agent frees it', async () => {
  await suspect();
  const dying = ledgerWith(ledgerOf('worker-1'), { release: () => new Promise(() => {}) });
  await startSweeping('worker-1', dying);
  await expect
    .poll(() => stage.onlooker.get(ADDRESS), { timeout: 20_000, interval: 100 })
    .toMatchObject({ spec: { state: 'Allocated', holder: { name: 'lost', uid: 'lost', node: 'worker-1' } } });
  const left = await stage.onlooker.get(ADDRESS);
  if (left === null) throw new Error('it is gone');
  expect(left.spec.holder).not.toHaveProperty('netns');
  await amended(stage.onlooker, left, { ...left.spec, state: 'Suspect' });
  await startSweeping('worker-2');
  await untilGone();
  expect(freed).toBe(1);
});
