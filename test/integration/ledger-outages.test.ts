import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { expectFailure, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { pauseForSure } from './ledger-pause.ts';
import { IMPATIENT, inSeconds, SPEC, useLedgerStage } from './ledger-stage.ts';

const stage = useLedgerStage();

describe('a paused API server', () => {
  test('whose create lands after the timeout, after a read said 404: still one record', async () => {
    await using second = await stage.cluster.server.secondServer();
    await using proxy = await startTcpProxy(Number(new URL(second.url).port));
    for (let round = 1; round <= 4; round += 1) {
      const name = `10.0.1.${round}`;
      using client = stage.cluster.agent({ limits: { connectTimeoutMs: 300 }, port: proxy.port });
      const slow = openKubernetesLedger(client, { attemptTimeoutMs: 300 });
      await slow.get(name);
      await pauseForSure(second);
      const sent = proxy.nextRequest();
      const creating = slow.create(specOf(name), inSeconds(30));
      await sent;
      proxy.hold('requests'); // the server never learns that the first try was given up
      await wait(1_000);
      expect(await stage.onlooker.get(name)).toBeNull();
      second.resume();
      await vi.waitUntil(async () => (await stage.onlooker.get(name)) !== null, 60_000);
      proxy.release();
      expect(await creating).toEqual({ taken: true, record: await stage.onlooker.get(name), mayStillLand: true });
      expect(await stage.all()).toHaveLength(round);
    }
  });

  test('that stays paused to the deadline: the error names the record that was abandoned', async () => {
    using client = stage.cluster.agent(IMPATIENT);
    const paused = openKubernetesLedger(client, { attemptTimeoutMs: 500 });
    await paused.get('10.0.0.1');
    await pauseForSure(stage.cluster.server);
    const started = performance.now();
    const error = await expectFailure(paused.create(SPEC, inSeconds(2)), 'outcome-unknown').finally(() =>
      stage.cluster.server.resume(),
    );
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(error.message).toContain('create the record 10.0.0.1');
    expect(abandonedName(error)).toBe('10.0.0.1');
    const again = await stage.ledger.create(SPEC, inSeconds(30));
    expect(again.record).toMatchObject({ name: '10.0.0.1', spec: SPEC });
    expect(await stage.all()).toEqual([again.record]);
  });

  test('whose caller goes away: the call ends at once', async () => {
    using client = stage.cluster.agent(IMPATIENT);
    const paused = openKubernetesLedger(client);
    await paused.get('10.0.0.1');
    await pauseForSure(stage.cluster.server);
    const caller = new AbortController();
    setTimeout(() => caller.abort(), 200);
    const started = performance.now();
    const error = await expectFailure(
      paused.create(SPEC, { signal: caller.signal, ...inSeconds(30) }),
      'outcome-unknown',
    ).finally(() => stage.cluster.server.resume());
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(abandonedName(error)).toBe('10.0.0.1');
  });
});

describe('an API server that is away', () => {
  test('to the deadline: nothing was sent and nothing is abandoned', async () => {
    using client = stage.cluster.agent(IMPATIENT);
    const waiting = openKubernetesLedger(client, { timeoutMs: 1_000 });
    const seen = await taken(waiting, SPEC);
    await stage.cluster.server.kill();
    try {
      const writes = [
        () => waiting.create(specOf('10.0.0.2')),
        () => waiting.amend(seen, heldBy(SPEC, { attachGeneration: 2 })),
        () => waiting.release(seen),
      ];
      for (const write of writes) {
        const error = await expectFailure(write(), 'api-server-unavailable');
        expect(abandonedName(error)).toBeNull();
      }
      await expectFailure(waiting.get('10.0.0.1'), 'api-server-unavailable');
      await expectFailure(waiting.takenOf('pool-a'), 'api-server-unavailable');
    } finally {
      await stage.cluster.server.restart();
    }
    expect(await stage.all()).toEqual([seen]);
  });

  test('and comes back: create, amend, release and reads go through', async () => {
    // A server that has just started refuses requests that it allows a second later; a load balancer waits until it is ready.
    await using balancer = await startTcpProxy(stage.cluster.port);
    using client = stage.cluster.agent({ ...IMPATIENT, port: balancer.port });
    const patient = openKubernetesLedger(client, { timeoutMs: 60_000 });
    const old = await taken(patient, specOf('10.0.0.9'));
    const seen = await taken(patient, SPEC);
    balancer.refuse();
    await stage.cluster.server.kill();
    const doing = Promise.all([
      patient.create(specOf('10.0.0.2')),
      patient.amend(seen, heldBy(SPEC, { attachGeneration: 2 })),
      patient.release(old),
      patient.get('10.0.0.1'),
      patient.byNode('worker-1'),
    ]);
    await wait(1_000);
    await stage.cluster.server.restart();
    await balancer.accept();
    const [created, amendment, released, found] = await doing;
    expect([created.taken, amendment.done, released.done]).toEqual([true, true, true]);
    expect(found).toMatchObject({ uid: seen.uid });
    expect((await stage.all()).map(({ name }) => name)).toEqual(['10.0.0.1', '10.0.0.2']);
  });
});
