import { describe, expect, test, vi } from 'vitest';
import { taken } from '#test/contract/ledger-resource.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { openScriptedLedger, storedAs } from '#test/support/scripted-kubernetes-ledger.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';

const SPEC = specOf('10.0.0.1');
const { object: OBJECT } = storedAs(SPEC);

describe('watchFreed', () => {
  const isWatch = ({ query }: ScriptedRequest) => query.get('watch') === 'true';
  const begin = (request: ScriptedRequest, resourceVersion: string) =>
    request.answer(200, { metadata: { resourceVersion }, items: [] });

  test('after a 410 has everybody look, and goes on from there', async () => {
    await using made = await openScriptedLedger((request) => {
      if (request.method === 'POST') return request.answer(201, OBJECT);
      if (!isWatch(request)) return begin(request, '50');
      if (request.query.get('resourceVersion') === '7') return request.answer(410, statusBody(410, 'Expired'));
      request.stream.respond({ ':status': 200 });
    });
    const { ledger, server } = made;
    await taken(ledger, SPEC);
    const wake = vi.fn();
    using _watch = ledger.watchFreed('pool-a', wake);
    const watched = () => server.requests.filter(isWatch).map(({ query }) => query.get('resourceVersion'));
    await vi.waitFor(() => expect(watched()).toEqual(['7', '50']));
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('of a server that ends every watch at once asks ever less often', async () => {
    await using made = await openScriptedLedger((request) => {
      if (isWatch(request)) request.answer(200, '');
      else begin(request, '50');
    });
    const { ledger, server } = made;
    using _watch = ledger.watchFreed('pool-a', () => {});
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(server.requests.length).toBeGreaterThan(2);
    expect(server.requests.length).toBeLessThan(20);
  });

  test('wakes who read before an address came back, though others have read since', async () => {
    const table = (resourceVersion: string, names: readonly string[]) => ({
      kind: 'Table',
      metadata: { resourceVersion },
      columnDefinitions: ['Name', 'POOL', 'STATE'].map((name) => ({ name })),
      rows: names.map((name) => ({ cells: [name, 'pool-a', 'Allocated'] })),
    });
    const [reads, watches]: [ScriptedRequest[], ScriptedRequest[]] = [[], []];
    await using made = await openScriptedLedger((request) => {
      if (!isWatch(request)) return void reads.push(request);
      request.stream.respond({ ':status': 200 });
      watches.push(request);
    });
    const { ledger } = made;
    const startRead = async () => {
      const count = reads.length;
      const read = ledger.takenOf('pool-a');
      await vi.waitFor(() => expect(reads).toHaveLength(count + 1));
      return { read, answer: (body: unknown) => reads[count]?.answer(200, body) };
    };
    const first = await startRead();
    first.answer(table('10', ['10.0.0.1']));
    await first.read;
    const wake = vi.fn();
    using _watch = ledger.watchFreed('pool-a', wake);
    await vi.waitFor(() => expect(watches).toHaveLength(1));

    const slow = await startRead();
    const object = { ...OBJECT, metadata: { ...OBJECT.metadata, resourceVersion: '11' } };
    watches[0]?.stream.write(`${JSON.stringify({ type: 'DELETED', object })}\n`);
    await vi.waitFor(() => expect(wake).toHaveBeenCalledTimes(1));
    const quick = await startRead();
    quick.answer(table('12', []));
    await quick.read;
    const [afterQuick, afterSlow] = [vi.fn(), vi.fn()];
    using _quick = ledger.watchFreed('pool-a', afterQuick);
    slow.answer(table('10', ['10.0.0.1']));
    await slow.read;
    using _slow = ledger.watchFreed('pool-a', afterSlow);
    await vi.waitFor(() => expect(afterSlow).toHaveBeenCalledTimes(1));
    expect(afterQuick).not.toHaveBeenCalled();
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
    using _watch = ledger.watchFreed('pool-a', wake);
    const other = ledger.watchFreed('pool-a', stopped);
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    const calls = stopped.mock.calls.length;
    streams[0]?.write(`${JSON.stringify({ type: 'DELETED', object: OBJECT })}\n`);
    await vi.waitFor(() => expect(wake).toHaveBeenCalledTimes(2));
    expect(stopped).toHaveBeenCalledTimes(calls);
  });
});
