import { describe, expect, test, vi } from 'vitest';
import type { PoolChange } from '#pkg/ledger/pool-change.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { openScriptedLedger, storedAs } from '#test/support/scripted-kubernetes-ledger.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';

const SPEC = specOf('10.0.0.1');
const { object: OBJECT } = storedAs(SPEC);

describe('watchPool', () => {
  const isWatch = ({ query }: ScriptedRequest) => query.get('watch') === 'true';
  const begin = (request: ScriptedRequest, resourceVersion: string) =>
    request.answer(200, { metadata: { resourceVersion }, items: [] });
  const tableAt = (resourceVersion: string) => ({
    kind: 'Table',
    metadata: { resourceVersion },
    columnDefinitions: ['Name', 'POOL', 'STATE'].map((name) => ({ name })),
    rows: [],
  });

  test('after a 410 tells that changes may have been missed, and goes on from there', async () => {
    const [table, nothing] = [tableAt('7'), { metadata: { resourceVersion: '50' }, items: [] }];
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return request.answer(200, request.query.has('labelSelector') ? table : nothing);
      if (request.query.get('resourceVersion') === '7') return request.answer(410, statusBody(410, 'Expired'));
      request.stream.respond({ ':status': 200 });
    });
    const { ledger, server } = made;
    await ledger.takenOf('pool-a');
    const wake = vi.fn();
    using _watch = ledger.watchPool('pool-a', wake);
    const watched = () => server.requests.filter(isWatch).map(({ query }) => query.get('resourceVersion'));
    await vi.waitFor(() => expect(watched()).toEqual(['7', '50']), 20_000);
    expect(wake.mock.calls).toEqual([[{ kind: 'unknown' }]]);
  });

  test('after a server that stopped in order tells that changes may have been missed', async () => {
    const streams: ScriptedRequest['stream'][] = [];
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return begin(request, '50');
      request.stream.respond({ ':status': 200 });
      streams.push(request.stream);
    });
    const changes: PoolChange[] = [];
    using _watch = made.ledger.watchPool('pool-a', (change) => changes.push(change));
    await vi.waitFor(() => expect(streams).toHaveLength(1), 20_000);
    // Longer than a watch that the server refuses to keep.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    streams[0]?.end();
    await vi.waitFor(() => expect(streams).toHaveLength(2), 20_000);
    expect(changes).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }]);
  });

  test('of a server that ends every watch at once asks ever less often', async () => {
    await using made = await openScriptedLedger((request) => {
      if (isWatch(request)) request.answer(200, '');
      else begin(request, '50');
    });
    const { ledger, server } = made;
    using _watch = ledger.watchPool('pool-a', () => {});
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(server.requests.length).toBeGreaterThan(2);
    expect(server.requests.length).toBeLessThan(20);
  });

  test('tells of each change by name, in its order', async () => {
    const streams: ScriptedRequest['stream'][] = [];
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return begin(request, '50');
      request.stream.respond({ ':status': 200 });
      streams.push(request.stream);
    });
    const changes: PoolChange[] = [];
    using _watch = made.ledger.watchPool('pool-a', (change) => changes.push(change));
    await vi.waitFor(() => expect(streams).toHaveLength(1), 20_000);
    const { name, uid = '', labels } = OBJECT.metadata;
    const suspect = {
      ...OBJECT,
      metadata: { ...OBJECT.metadata, labels: { ...labels, 'ipledger.io/state': 'Suspect' } },
    };
    for (const [type, object] of [
      ['ADDED', OBJECT],
      ['MODIFIED', suspect],
      ['DELETED', suspect],
    ])
      streams[0]?.write(`${JSON.stringify({ type, object })}\n`);
    const expected = [
      { kind: 'unknown' },
      { kind: 'taken', name, state: 'Allocated' },
      { kind: 'suspect', name },
      { kind: 'freed', name, uid },
    ];
    await vi.waitFor(() => expect(changes).toEqual(expected), 20_000);
  });

  test('goes on where the watch before it ended', async () => {
    const watches: ScriptedRequest[] = [];
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return begin(request, '50');
      request.stream.respond({ ':status': 200 });
      watches.push(request);
    });
    const told = vi.fn();
    const first = made.ledger.watchPool('pool-a', told);
    await vi.waitFor(() => expect(watches).toHaveLength(1), 20_000);
    const object = { ...OBJECT, metadata: { ...OBJECT.metadata, resourceVersion: '61' } };
    watches[0]?.stream.write(`${JSON.stringify({ type: 'DELETED', object })}\n`);
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2), 20_000);
    first[Symbol.dispose]();
    const later = vi.fn();
    using _second = made.ledger.watchPool('pool-a', later);
    await vi.waitFor(() => expect(watches).toHaveLength(2), 20_000);
    expect(watches.map(({ query }) => query.get('resourceVersion'))).toEqual(['50', '61']);
    expect(later).not.toHaveBeenCalled();
  });

  test('tells one who joins a watch under way that changes may have been missed', async () => {
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return begin(request, '50');
      request.stream.respond({ ':status': 200 });
    });
    const [first, second] = [vi.fn(), vi.fn()];
    using _first = made.ledger.watchPool('pool-a', first);
    await vi.waitFor(() => expect(first).toHaveBeenCalledTimes(1), 20_000);
    using _second = made.ledger.watchPool('pool-a', second);
    await vi.waitFor(() => expect(second).toHaveBeenCalledWith({ kind: 'unknown' }), 20_000);
    expect(first).toHaveBeenCalledTimes(1);
  });

  test('tells no one who was disposed, and the others all the same', async () => {
    const streams: ScriptedRequest['stream'][] = [];
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return begin(request, '50');
      request.stream.respond({ ':status': 200 });
      streams.push(request.stream);
    });
    const { ledger } = made;
    const [wake, stopped] = [vi.fn(), vi.fn()];
    using _watch = ledger.watchPool('pool-a', wake);
    const other = ledger.watchPool('pool-a', stopped);
    await vi.waitFor(() => expect(streams).toHaveLength(1), 20_000);
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    const calls = stopped.mock.calls.length;
    streams[0]?.write(`${JSON.stringify({ type: 'DELETED', object: OBJECT })}\n`);
    await vi.waitFor(() => expect(wake).toHaveBeenCalledTimes(2), 20_000);
    expect(stopped).toHaveBeenCalledTimes(calls);
  });
});
