import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import type { Script } from '#test/support/scripted-server.ts';
import { type ServeClaimsOptions, serveClaims } from './serve-claims.ts';

const PATIENCE = { timeout: 20_000, interval: 5 };
const OLD = {
  kind: 'APIResourceList',
  groupVersion: 'cluster.x-k8s.io/v1beta1',
  resources: [{ name: 'clusters', kind: 'Cluster', namespaced: true, verbs: ['list'] }],
};

/** What is logged while no kind is served in the version that we read, at ten looks. */
async function linesOfTenLooks(script: (path: string) => object | null): Promise<readonly string[]> {
  let looks = 0;
  const answerAll: Script = ({ path, answer }) => {
    if (path.startsWith('/apis/ipam.cluster.x-k8s.io/v1beta2/ipaddressclaims')) looks += 1;
    const found = script(path);
    if (found === null) answer(404, '404 page not found', { 'content-type': 'text/plain' });
    else answer(200, found);
  };
  await using scripted = await startScripted(answerAll);
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const options = { client: scripted.client, log, lookEveryMs: 1 } as unknown as ServeClaimsOptions;
  await using _running = serveClaims(options);
  await vi.waitFor(() => expect(looks).toBeGreaterThanOrEqual(10), PATIENCE);
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

test('a Cluster API before v1beta2 is not served, and one line says so', async () => {
  const lines = await linesOfTenLooks((path) => (path === '/apis/cluster.x-k8s.io/v1beta1' ? OLD : null));
  expect(lines).toEqual([
    'Cluster API is here without version v1beta2 (v1.11 and later have it): its IPAddressClaims are not served until it is upgraded',
  ]);
});

test('without Cluster API nothing is said', async () => {
  expect(await linesOfTenLooks(() => null)).toEqual([]);
});
