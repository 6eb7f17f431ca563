import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import type { ScriptedRequest } from '#test/support/scripted-server.ts';
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
  await vi.waitFor(() => expect(told).toHaveBeenCalledOnce());
  expect(view.steadySinceMs).toBe(1_000);
});
