import { expect, test } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { LiveReads } from './live-reads.ts';

test('a list of all pods that fails does not stop anybody: each pod is read by itself', async () => {
  await using pair = await startScripted(({ path, answer }) => {
    const name = path.split('/').at(-1) ?? '';
    if (path === '/api/v1/pods') answer(500, statusBody(500, 'InternalError'));
    else answer(404, statusBody(404, 'NotFound', { name, kind: 'pods' }));
  });
  const reads = new LiveReads(pair.client, 25_000, () => performance.now(), new AbortController().signal);
  for (let at = 0; at < 120; at += 1) expect(await reads.pod('prod', `web-${at}`, 0)).toBeNull();
  expect(pair.server.requests.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(1);
});
