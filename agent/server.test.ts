import { pino } from 'pino';
import { expect, test } from 'vitest';
import { CLIENT_HEADER, PATHS } from '#pkg/agentapi/wire.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, startMemoryAgent } from '#test/support/memory-agent.ts';
import { buildServer } from './server.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
const OURS = { [CLIENT_HEADER]: '1' };

async function serve(isReady = true) {
  const made = await startMemoryAgent([POOL], { isReady });
  const server = buildServer(made.agent, pino({ level: 'silent' }));
  return {
    inject: server.inject.bind(server),
    async [Symbol.asyncDispose]() {
      await server.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

test('Spiderpool and our plugin get the same answer to ADD; errors as a JSON string or as an object', async () => {
  await using made = await serve();
  const added = await made.inject({ method: 'POST', url: PATHS.ip, payload: JSON.stringify(addArgs('c1')) });
  expect([added.statusCode, added.json<{ ips: object[] }>().ips]).toEqual([
    200,
    [expect.objectContaining({ version: 4, address: '10.0.0.10/24', nic: 'eth0', ipPool: 'v4' })],
  ]);
  const full = { method: 'POST', url: PATHS.ip, payload: JSON.stringify(addArgs('c2')) } as const;
  const theirs = await made.inject(full);
  expect([theirs.statusCode, theirs.json<string>()]).toEqual([500, expect.stringContaining('v4 1/1 used')]);
  const ours = await made.inject({ ...full, headers: OURS });
  expect([ours.statusCode, ours.json<object>()]).toEqual([500, expect.objectContaining({ reason: 'pools-exhausted' })]);
});

test('DELETE carries a body, with or without a content type', async () => {
  await using made = await serve();
  await made.inject({ method: 'POST', url: PATHS.ip, payload: JSON.stringify(addArgs('c1')) });
  const payload = JSON.stringify(delArgs('c1'));
  const headers = { 'content-type': 'application/json' };
  expect((await made.inject({ method: 'DELETE', url: PATHS.ip, payload, headers })).statusCode).toBe(200);
  expect((await made.inject({ method: 'DELETE', url: PATHS.ip, payload })).statusCode).toBe(200);
});

test.each([
  { name: 'no body', payload: '', says: 'no body' },
  { name: 'not JSON', payload: '{"containerID":', says: 'not JSON' },
  { name: 'not an object', payload: '[]', says: 'must be an object' },
  { name: 'a missing field', payload: JSON.stringify({ ...addArgs('c1'), ifName: undefined }), says: 'ifName' },
  { name: 'a path as container ID', payload: JSON.stringify(addArgs('../../etc')), says: 'containerID' },
  { name: 'a prototype', payload: `{"__proto__":{"containerID":"x"}}`, says: 'containerID' },
  { name: 'too large', payload: JSON.stringify({ filler: 'x'.repeat(3_000_000) }), says: 'larger than' },
])('a bad body is refused in clear words: $name', async ({ payload, says }) => {
  await using made = await serve();
  const answer = await made.inject({ method: 'POST', url: PATHS.ip, payload, headers: OURS });
  expect(answer.statusCode).toBe(500);
  expect(answer.json<object>()).toMatchObject({
    reason: 'bad-input',
    message: expect.stringContaining(says) as string,
  });
});

test('an unknown path is refused in our words', async () => {
  await using made = await serve();
  const answer = await made.inject({ method: 'GET', url: '/v1/nonsense', headers: OURS });
  expect(answer.json<object>()).toMatchObject({
    reason: 'bad-input',
    message: expect.stringContaining('/v1/nonsense') as string,
  });
});

test('health, status and the endpoint of a pod', async () => {
  await using made = await serve();
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
  await made.inject({ method: 'POST', url: PATHS.ip, payload: JSON.stringify(addArgs('c1', pod)) });
  expect((await made.inject(PATHS.healthy)).statusCode).toBe(200);
  expect((await made.inject(PATHS.status)).json<object>()).toEqual({ ready: true });
  const found = await made.inject(`${PATHS.workloadEndpoint}?podNamespace=prod&podName=web-0`);
  expect(found.json<object>()).toEqual({
    ...pod,
    node: 'worker-1',
    interfaces: [{ interface: 'eth0', ipv4: '10.0.0.10/24', ipv4Pool: 'v4' }],
  });
  expect((await made.inject(`${PATHS.workloadEndpoint}?podNamespace=prod&podName=web-1`)).statusCode).toBe(404);
  expect((await made.inject(PATHS.workloadEndpoint)).statusCode).toBe(422);
});

test('an ADD waits for an agent that is not ready, and is told why in the end: Spiderpool knows only 500', async () => {
  await using made = await serve(false);
  const payload = JSON.stringify({ ...addArgs('c1'), timeoutMs: 100 });
  const add = { method: 'POST', url: PATHS.ip, payload } as const;
  const theirs = await made.inject(add);
  expect([theirs.statusCode, theirs.json<string>()]).toEqual([500, expect.stringContaining('not read its records')]);
  const ours = await made.inject({ ...add, headers: OURS });
  expect([ours.statusCode, ours.json<object>()]).toEqual([
    500,
    expect.objectContaining({ reason: 'agent-unavailable' }),
  ]);
  const status = await made.inject({ url: PATHS.status, headers: OURS });
  expect([status.statusCode, status.json<object>()]).toEqual([503, expect.objectContaining({ reason: 'not-ready' })]);
});
