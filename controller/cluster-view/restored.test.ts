import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';
import { ClusterView } from './cluster-view.ts';

const listAt = (resourceVersion: number) => ({
  kind: 'List',
  metadata: { resourceVersion: String(resourceVersion) },
  items: [],
});

test('who listens to the records is told of a restore, and the time without a break begins anew', async () => {
  let isRestored = false;
  const script = (request: ScriptedRequest) => {
    if (!request.query.has('watch')) return request.answer(200, listAt(isRestored ? 50 : 100));
    request.stream.respond({ ':status': 200 });
    if (isRestored || !request.path.includes('/iprecords')) return;
    isRestored = true;
    request.stream.end();
  };
  await using scripted = await startScripted(script);
  const { client } = scripted;
  let nowMs = 0;
  const deps = { client, log: pino({ enabled: false }), leaseFreshMs: 25_000, agentNamespace: 'ipledger' };
  await using view = new ClusterView({ ...deps, nowMs: () => nowMs });
  const told = vi.fn();
  using _listening = view.restored.add(told);
  await view.synced;
  nowMs = 1_000;
  await vi.waitFor(() => expect(told).toHaveBeenCalledOnce(), 20_000);
  expect(view.steadySinceMs).toBe(1_000);
});

test.each([
  { name: 'a refusal is no break', code: 403, reason: 'Forbidden', steadySinceMs: 0 },
  { name: 'an error of the server is one', code: 500, reason: 'InternalError', steadySinceMs: 1_000 },
])('$name: the time without a break counts from $steadySinceMs', async ({ code, reason, steadySinceMs }) => {
  let refused = 0;
  const script = (request: ScriptedRequest) => {
    if (!request.query.has('watch')) return request.answer(200, listAt(100));
    if (isSynced && request.path.includes('/iprecords')) {
      refused += 1;
      return request.answer(code, statusBody(code, reason));
    }
    request.stream.respond({ ':status': 200 });
    if (request.path.includes('/iprecords')) setTimeout(() => request.stream.end(), 50);
  };
  let isSynced = false;
  await using scripted = await startScripted(script);
  const { client } = scripted;
  let nowMs = 0;
  const deps = { client, log: pino({ enabled: false }), leaseFreshMs: 25_000, agentNamespace: 'ipledger' };
  await using view = new ClusterView({ ...deps, nowMs: () => nowMs });
  await view.synced;
  isSynced = true;
  nowMs = 1_000;
  await vi.waitFor(() => expect(refused).toBeGreaterThan(1), 10_000);
  expect(view.steadySinceMs).toBe(steadySinceMs);
});
