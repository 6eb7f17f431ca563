import { expect, test } from 'vitest';
import { ADMIN_PATHS } from '#pkg/agentapi/admin.ts';
import { CLIENT_HEADER } from '#pkg/agentapi/wire.ts';
import { type Reply, startFakeAgent } from '#test/support/fake-agent.ts';
import { type AdminClient, openAdminClient } from './admin-client.ts';

const add = { containerID: 'c', ifName: 'eth0', netNamespace: '', podNamespace: '', podName: '', podUID: '' };
const seenRecord = { name: '10.0.0.5', uid: 'u', resourceVersion: '7', asOfMs: 1000 };

test.each<{ name: string; call: (client: AdminClient) => Promise<unknown>; request: object }>([
  {
    name: 'pools',
    call: (client) => client.pools(),
    request: { method: 'GET', path: ADMIN_PATHS.pools, query: {} },
  },
  {
    name: 'a page of records',
    call: (client) => client.records({ pool: 'a&b', after: '10.0.0.9' }),
    request: { method: 'GET', path: ADMIN_PATHS.records, query: { pool: 'a&b', limit: '500', after: '10.0.0.9' } },
  },
  {
    name: 'who holds an address',
    call: (client) => client.who('fd00::5', 'blue'),
    request: { method: 'GET', path: ADMIN_PATHS.records, query: { address: 'fd00::5', domain: 'blue' } },
  },
  {
    name: 'explain',
    call: (client) => client.explain(add),
    request: { method: 'POST', path: ADMIN_PATHS.explain, body: add },
  },
  {
    name: 'check',
    call: (client) => client.check(),
    request: { method: 'GET', path: ADMIN_PATHS.check },
  },
  {
    name: 'release',
    call: (client) => client.release(seenRecord),
    request: { method: 'POST', path: ADMIN_PATHS.release, body: seenRecord },
  },
  {
    name: 'a dry run of the collection',
    call: (client) => client.collect({ dryRun: true }),
    request: { method: 'GET', path: ADMIN_PATHS.collect },
  },
  {
    name: 'a collection',
    call: (client) => client.collect({ dryRun: false }),
    request: { method: 'POST', path: ADMIN_PATHS.collect, body: {} },
  },
])('$name: one request, its answer returned as it came', async ({ call, request }) => {
  await using agent = await startFakeAgent(() => ({ body: { told: 'ü' } }));
  expect(await call(openAdminClient(agent.socketPath))).toEqual({ told: 'ü' });
  expect(agent.seen).toHaveLength(1);
  expect(agent.seen[0]).toMatchObject(request);
  expect(agent.seen[0]?.headers).toHaveProperty(CLIENT_HEADER);
});

test.each<{ name: string; reply: Reply; error: object }>([
  {
    name: 'a typed error',
    reply: { status: 400, body: { reason: 'unknown-pool', message: 'No pool x.', details: 'There are: v4' } },
    error: { reason: 'unknown-pool', message: 'No pool x.', details: 'There are: v4' },
  },
  {
    name: 'a reason of a later version',
    reply: { status: 500, body: { reason: 'moon-phase', message: 'Not today.' } },
    error: { reason: 'internal', message: 'Not today.', details: '' },
  },
  {
    name: 'an error that is no JSON',
    reply: { status: 502, body: '<html>' },
    error: { reason: 'internal', message: "the agent's answer (status 502) makes no sense" },
  },
  {
    name: 'an answer that is no object',
    reply: { body: '"ok"' },
    error: { reason: 'internal' },
  },
  {
    name: 'a line cut before the answer',
    reply: 'cut',
    error: { reason: 'agent-unavailable', message: expect.stringContaining('gave no answer') },
  },
  {
    name: 'silence',
    reply: 'hang',
    error: { reason: 'agent-unavailable', message: expect.stringContaining('did not answer within 0.2 s') },
  },
])('$name', async ({ reply, error }) => {
  await using agent = await startFakeAgent(() => reply);
  await expect(openAdminClient(agent.socketPath, { timeoutMs: 200 }).pools()).rejects.toMatchObject(error);
});
