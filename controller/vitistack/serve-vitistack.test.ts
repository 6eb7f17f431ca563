import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { type ServeVitistackOptions, serveVitistack } from './serve-vitistack.ts';

test('without the kinds of Vitistack each look is one request, and nothing is watched or said', async () => {
  const asked: string[] = [];
  await using scripted = await startScripted(({ path, answer }) => {
    asked.push(path);
    answer(404, '404 page not found', { 'content-type': 'text/plain' });
  });
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const isAdopted = () => expect.unreachable('nothing is asked of a cluster without Vitistack');
  const options = { client: scripted.client, log, isAdopted, lookEveryMs: 1 } as unknown as ServeVitistackOptions;
  await using _running = serveVitistack(options);
  await vi.waitFor(() => expect(asked.length).toBeGreaterThanOrEqual(10), { timeout: 20_000, interval: 5 });
  expect(new Set(asked)).toEqual(new Set(['/apis/vitistack.io/v1alpha2']));
  expect(lines).toEqual([]);
});
