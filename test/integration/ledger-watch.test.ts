import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
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

const comes = (wake: () => void, times = 1) =>
  vi.waitFor(() => expect(vi.mocked(wake).mock.calls.length).toBeGreaterThanOrEqual(times), 30_000);

async function read(): Promise<void> {
  await ledger.takenOf('pool-a');
}

describe('a call that has read the pool and waits', () => {
  test('is woken by a release on another node, and by nothing before', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const wake = vi.fn();
    using _watch = ledger.watchFreed('pool-a', wake);
    await taken(other, heldBy(specOf('10.0.0.2'), { node: 'worker-2' }));
    const elsewhere = await taken(other, { ...SPEC, address: '10.0.0.3', pool: { ...SPEC.pool, name: 'pool-b' } });
    await other.release(elsewhere);
    const now = await amended(other, seen, heldBy(SPEC, { attachGeneration: 2 }));
    await wait(QUIET_MS);
    expect(wake).not.toHaveBeenCalled();
    await other.release(now);
    await comes(wake);
  });

  test('is woken when the controller makes a record Suspect', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const wake = vi.fn();
    using _watch = ledger.watchFreed('pool-a', wake);
    await wait(QUIET_MS);
    expect(wake).not.toHaveBeenCalled();
    await amended(controller, seen, inState(SPEC, 'Suspect'));
    await comes(wake);
  });

  test('is woken by what came back between the read and the watch', async () => {
    const seen = await taken(other, SPEC);
    await read();
    await other.release(seen);
    const wake = vi.fn();
    using _watch = ledger.watchFreed('pool-a', wake);
    await comes(wake);
  });

  test('beside others is woken by what they were woken by after that read, and only by that', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const [first, second, third] = [vi.fn(), vi.fn(), vi.fn()];
    using _first = ledger.watchFreed('pool-a', first);
    await other.release(seen);
    await comes(first);
    using _second = ledger.watchFreed('pool-a', second);
    await comes(second);
    await read();
    using _third = ledger.watchFreed('pool-a', third);
    await wait(QUIET_MS);
    expect(third).not.toHaveBeenCalled();
  });
});

describe('the watch', () => {
  test('is shared by all calls that wait for a pool, and open only while one waits', async () => {
    expect(await openWatches(cluster.server)).toBe(0);
    await read();
    const requests = await recordRequests(cluster.server, async () => {
      using stack = new DisposableStack();
      for (let n = 0; n < 5; n += 1) stack.use(ledger.watchFreed('pool-a', () => {}));
      await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
      ledger.watchFreed('pool-a', () => {})[Symbol.dispose]();
      await wait(QUIET_MS);
      expect(await openWatches(cluster.server)).toBe(1);
    });
    expect(requests['LIST']).toBeUndefined();
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(0), 10_000);
  });

  test('ends with the ledger', async () => {
    const wake = vi.fn();
    ledger.watchFreed('pool-a', wake);
    await comes(wake);
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
    await ledger.close();
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(0), 10_000);
  });

  test('survives a restart of the API server', async () => {
    const seen = await taken(other, SPEC);
    await read();
    const wake = vi.fn();
    using _watch = ledger.watchFreed('pool-a', wake);
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
    await cluster.server.restart();
    await comes(wake); // the watch was interrupted, so the call must read again
    await vi.waitFor(async () => expect(await openWatches(cluster.server)).toBe(1), 10_000);
    wake.mockClear();
    await other.release(seen);
    await comes(wake);
  });

  test('survives cut connections, and tells of what came back meanwhile', async () => {
    await using proxy = await startTcpProxy(cluster.port);
    using client = cluster.agent({ port: proxy.port });
    const cutOff = openKubernetesLedger(client);
    await cutOff.takenOf('pool-a');
    const wake = vi.fn();
    using _watch = cutOff.watchFreed('pool-a', wake);
    for (let round = 0; round < 3; round += 1) {
      const seen = await taken(other, SPEC);
      wake.mockClear();
      proxy.cut();
      await other.release(seen);
      await comes(wake);
    }
    await cutOff.close();
  });
});

test('a full pool with waiting calls is not read repeatedly', async () => {
  await taken(other, SPEC);
  /** Like a call that finds nothing: read, wait, and read again after a wake-up. */
  const waitFor = async (ms: number) => {
    const over = AbortSignal.timeout(ms);
    let looks = 0;
    while (!over.aborted) {
      await read();
      looks += 1;
      const { promise, resolve } = Promise.withResolvers<void>();
      using _watch = ledger.watchFreed('pool-a', resolve);
      over.addEventListener('abort', () => resolve());
      await promise;
    }
    return looks;
  };
  expect(await Promise.all([waitFor(2_000), waitFor(2_000), waitFor(2_000)])).toEqual([1, 1, 1]);
});
