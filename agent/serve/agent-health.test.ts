import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentHealth } from './agent-health.ts';

async function serve(status: number) {
  const path = join(tmpdir(), `ipledger-health-${process.pid}-${status}.sock`);
  await rm(path, { force: true });
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/v1/ipam/healthy' ? status : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test('an agent that is not ready lives: it is not restarted because the API server is away', async () => {
  await using socket = await serve(200);
  const health = agentHealth({ whyNotReady: () => 'waits for the API server', socketPath: () => socket.path });
  expect([await health.startup(), await health.readiness(), await health.liveness()]).toEqual([
    'waits for the API server',
    'waits for the API server',
    null,
  ]);
});

test('before it serves its socket it is starting, not dead', async () => {
  expect(await agentHealth({ whyNotReady: () => 'starts', socketPath: () => null }).liveness()).toBeNull();
});

test('a socket that does not answer any more, or wrongly, is neither alive nor ready', async () => {
  const gone = agentHealth({ whyNotReady: () => null, socketPath: () => '/nowhere/agent.sock' });
  expect(await gone.liveness()).toContain('the socket /nowhere/agent.sock does not answer');
  expect(await gone.readiness()).toContain('does not answer');
  await using socket = await serve(503);
  expect(await agentHealth({ whyNotReady: () => null, socketPath: () => socket.path }).liveness()).toContain(
    'answers 503',
  );
});
