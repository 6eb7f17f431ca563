import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { OnPoolChange } from '#pkg/ledger/pool-change.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { openWatches, recordRequests } from './ledger-requests.ts';

let cluster: LedgerCluster;
/** The agent that waits, an agent that gives back, and the controller. */
let ledger: Ledger;
let other: Ledger;
let controller: Ledger;

beforeAll(async () => {
  cluster = await startLedgerCluster();
  other = openKubernetesLedger(cluster.agent({ node: 'worker-2' }));
  controller = openKubernetesLedger(cluster.controller());
  return () => cluster[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await cluster.clear();
  ledger = openKubernetesLedger(cluster.agent());
  return () => ledger.close();
});

const SPEC = heldBy(specOf('10.0.0.1'), { node: 'worker-2' });
const QUIET_MS = 500;

const comes = (tell: OnPoolChange, wanted: object) =>
  vi.waitFor(() => expect(tell).toHaveBeenCalledWith(expect.objectContaining(wanted)), 30_000);

const FREED = { kind: 'freed', name: '10.0.0.1' };
const UNKNOWN = { kind: 'unknown' };

async function read(): Promise<void> {
  await ledger.takenOf('pool-a');
}

describe('one who has read the pool and watches it', () => {
  test('is told what others take and give back, by name, and of nothing else', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const tell = vi.fn();
    using _watch = ledger.watchPool('pool-a', tell);
    const second = await taken(other, heldBy(specOf('10.0.0.2'), { node: 'worker-2' }));
    const elsewhere = await taken(other, { ...SPEC, address: '10.0.0.3', pool: { ...SPEC.pool, name: 'pool-b' } });
    await other.release(elsewhere);
    await other.release(seen);
    await comes(tell, FREED);
    expect(tell.mock.calls).toEqual([
      [{ kind: 'taken', name: second.name, state: 'Allocated' }],
      [{ ...FREED, uid: seen.uid }],
    ]);
  });

  test('is told when the controller makes a record Suspect', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const tell = vi.fn();
    using _watch = ledger.watchPool('pool-a', tell);
    await wait(QUIET_MS);
    expect(tell).not.toHaveBeenCalled();
    await amended(controller, seen, inState(SPEC, 'Suspect'));
    await comes(tell, { kind: 'suspect', name: seen.name });
  });

  test('is told what came back between the read and the watch', async () => {
    const seen = await taken(other, SPEC);
    await read();
    await other.release(seen);
    const tell = vi.fn();
    using _watch = ledger.watchPool('pool-a', tell);
    await comes(tell, FREED);
  });

  test('and stops, is told what came back in between when it watches again', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const tell = vi.fn();
    ledger.watchPool('pool-a', tell)[Symbol.dispose]();
    await other.release(seen);
    using _watch = ledger.watchPool('pool-a', tell);
    await comes(tell, FREED);
  });
});

describe('the watch', () => {
  test('is shared by all who watch a pool, and open only while one does', async () => {
    expect(await openWatches(cluster.server)).toBe(0);
    await read();
    const requests = await recordRequests(cluster.server, async () => {
      using stack = new DisposableStack();
      for (let n = 0; n < 5; n += 1) stack.use(ledger.watchPool('pool-a', () => {}));
      await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
      ledger.watchPool('pool-a', () => {})[Symbol.dispose]();
      await wait(QUIET_MS);
      expect(await openWatches(cluster.server)).toBe(1);
    });
    expect(requests['LIST']).toBeUndefined();
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(0), 10_000);
  });

  test('ends with the ledger', async () => {
    const tell = vi.fn();
    ledger.watchPool('pool-a', tell);
    await comes(tell, UNKNOWN);
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
    await ledger.close();
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(0), 10_000);
  });

  test('survives a restart of the API server', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const tell = vi.fn();
    using _watch = ledger.watchPool('pool-a', tell);
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
    await cluster.server.restart();
    await comes(tell, UNKNOWN);
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
    tell.mockClear();
    await other.release(seen);
    await comes(tell, FREED);
  });

  test('survives cut connections, and tells that changes may have been missed', async () => {
    await using proxy = await startTcpProxy(cluster.port);
    using client = cluster.agent({ port: proxy.port });
    const cutOff = openKubernetesLedger(client);
    await cutOff.takenOf('pool-a');
    const tell = vi.fn();
    using _watch = cutOff.watchPool('pool-a', tell);
    for (let round = 0; round < 3; round += 1) {
      const seen = await taken(other, SPEC);
      tell.mockClear();
      proxy.cut();
      await other.release(seen);
      await vi.waitFor(() => expect(tell.mock.calls.flat().some(({ kind }) => kind !== 'taken')).toBe(true), 30_000);
    }
    await cutOff.close();
  });
});
