import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { CLIENT_HEADER, PATHS } from '#pkg/agentapi/wire.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, startMemoryAgent } from '#test/support/memory-agent.ts';
import { callSocket, type SocketCall } from '#test/support/socket-call.ts';
import { buildServer } from './server.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
const OURS = { [CLIENT_HEADER]: '1' };

async function serve(isReady = true) {
  const made = await startMemoryAgent([POOL], { isReady });
  const server = buildServer(made.agent, pino({ level: 'silent' }));
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-server-'));
  const socket = join(directory, 'agent.sock');
  await server.listen(socket);
  return {
    agent: made.agent,
    async call(call: SocketCall) {
      const { status, text } = await callSocket(socket, call);
      return [status, text === '' ? '' : JSON.parse(text)];
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(directory, { recursive: true });
      await made[Symbol.asyncDispose]();
    },
  };
}

function addCall(containerID: string, more: object = {}): SocketCall {
  return { method: 'POST', path: PATHS.ip, body: JSON.stringify({ ...addArgs(containerID), ...more }) };
}

test('Spiderpool and our plugin get the same answer to ADD; errors as a JSON string or as an object', async () => {
  await using made = await serve();
  expect(await made.call(addCall('c1'))).toEqual([
    200,
    expect.objectContaining({
      ips: [expect.objectContaining({ version: 4, address: '10.0.0.10/24', nic: 'eth0', ipPool: 'v4' })],
    }),
  ]);
  expect(await made.call(addCall('c2'))).toEqual([500, expect.stringContaining('v4 1/1 used')]);
  const ours = await made.call({ ...addCall('c2'), headers: OURS });
  expect(ours).toEqual([500, expect.objectContaining({ reason: 'pools-exhausted' })]);
});

test('DELETE carries a body, with or without a content type', async () => {
  await using made = await serve();
  await made.call(addCall('c1'));
  const del = { method: 'DELETE', path: PATHS.ip, body: JSON.stringify(delArgs('c1')) } as const;
  expect(await made.call({ ...del, headers: { 'content-type': 'application/json' } })).toEqual([200, '']);
  expect(await made.call(del)).toEqual([200, '']);
});

test.each([
  { name: 'no body', body: '', says: 'no body' },
  { name: 'not JSON', body: '{"containerID":', says: 'not JSON' },
  { name: 'not an object', body: '[]', says: 'must be an object' },
  { name: 'a missing field', body: JSON.stringify({ ...addArgs('c1'), ifName: undefined }), says: 'ifName' },
  { name: 'a path as container ID', body: JSON.stringify(addArgs('../../etc')), says: 'containerID' },
  { name: 'a prototype', body: `{"__proto__":{"containerID":"x"}}`, says: 'containerID' },
  { name: 'too large', body: JSON.stringify({ filler: 'x'.repeat(3_000_000) }), says: 'larger than 2097152 bytes' },
])('a bad body is refused in clear words: $name', async ({ body, says }) => {
  await using made = await serve();
  expect(await made.call({ method: 'POST', path: PATHS.ip, body, headers: OURS })).toEqual([
    500,
    expect.objectContaining({ reason: 'bad-input', message: expect.stringContaining(says) }),
  ]);
});

test.each([
  { name: 'an unknown path', call: { path: '/v1/nonsense' } },
  { name: 'a known path with another method', call: { method: 'DELETE', path: PATHS.status } },
  { name: 'a known path with something behind it', call: { path: `${PATHS.status}/x` } },
  { name: 'a name of every object', call: { path: '/__proto__' } },
] as const)('$name is refused in our words', async ({ call }) => {
  await using made = await serve();
  const message = `${'method' in call ? call.method : 'GET'} ${call.path} is not part of the agent's API`;
  expect(await made.call({ ...call, headers: OURS })).toEqual([
    404,
    expect.objectContaining({ reason: 'bad-input', message }),
  ]);
});

test('health, status and the endpoint of a pod', async () => {
  await using made = await serve();
  const pod = { podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
  await made.call(addCall('c1', pod));
  expect(await made.call({ path: PATHS.healthy })).toEqual([200, '']);
  expect(await made.call({ path: PATHS.status })).toEqual([200, { ready: true }]);
  expect(await made.call({ path: `${PATHS.workloadEndpoint}?podNamespace=prod&podName=web%2D0` })).toEqual([
    200,
    {
      ...pod,
      node: 'worker-1',
      interfaces: [{ interface: 'eth0', ipv4: '10.0.0.10/24', ipv4Pool: 'v4' }],
    },
  ]);
  const stranger = `${PATHS.workloadEndpoint}?podNamespace=prod&podName=web-1`;
  expect(await made.call({ path: stranger })).toEqual([404, 'no endpoint of prod/web-1 on this node']);
  expect(await made.call({ path: PATHS.workloadEndpoint })).toEqual([422, 'podNamespace and podName are required']);
});

test('an ADD waits for an agent that is not ready, and is told why in the end: Spiderpool knows only 500', async () => {
  await using made = await serve(false);
  const add = addCall('c1', { timeoutMs: 100 });
  expect(await made.call(add)).toEqual([500, expect.stringContaining('not read its records')]);
  const ours = await made.call({ ...add, headers: OURS });
  expect(ours).toEqual([500, expect.objectContaining({ reason: 'agent-unavailable' })]);
  const status = await made.call({ path: PATHS.status, headers: OURS });
  expect(status).toEqual([503, expect.objectContaining({ reason: 'not-ready' })]);
});

test('a STATUS that says how long it can wait is held by a starting agent, and told why in the end', async () => {
  await using made = await serve(false);
  const held = made.call({ path: `${PATHS.status}?timeoutMs=100`, headers: OURS });
  expect(await held).toEqual([500, expect.objectContaining({ reason: 'agent-unavailable' })]);
  const answered = made.call({ path: `${PATHS.status}?timeoutMs=60000`, headers: OURS });
  made.agent.readiness.become();
  expect(await answered).toEqual([200, { ready: true }]);
});

test('an agent that is being stopped answers STATUS, and leaves new ADDs to the next one', async () => {
  await using made = await serve();
  made.agent.readiness.stop();
  expect(await made.call({ path: `${PATHS.status}?timeoutMs=9000`, headers: OURS })).toEqual([200, { ready: true }]);
  const [code, body] = await made.call({ ...addCall('c1'), headers: OURS });
  expect([code, body]).toEqual([500, expect.objectContaining({ reason: 'agent-unavailable' })]);
});
