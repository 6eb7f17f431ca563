import { describe, expect, test, vi } from 'vitest';
import { type ScriptedRequest, statusBody } from '#pkg/kube/scripted-server.ts';
import { taken } from '#test/contract/ledger-resource.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { openScriptedLedger, storedAs } from './kubernetes-scripted.ts';

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
