import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { SocketAnswer, SocketServer } from './socket-server.ts';
import { stopServing } from './stop-serving.ts';

async function serve() {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-serve-'));
  const path = join(directory, 'agent.sock');
  const server = new SocketServer(() => new SocketAnswer(500, ''));
  const held = Promise.withResolvers<void>();
  server.on('GET', '/', async () => 'fine');
  server.on('GET', '/slow', async () => {
    await held.promise;
    return 'at last';
  });
  await server.listen(path);
  return { server, path, held, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

const ask = async (path: string) => {
  const line = connect(path);
  line.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  return await text(line);
};

test('while a request is under way new callers are answered; then the socket goes', async () => {
  await using made = await serve();
  const slow = connect(made.path);
  slow.write('GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  await vi.waitUntil(() => made.server.countUnderWay() === 1, 20_000);
  const stopping = stopServing(made.server, made.path);
  await sleep(200);
  expect(await ask(made.path)).toMatch(/"fine"$/);
  made.held.resolve();
  expect(await text(slow)).toMatch(/"at last"$/);
  await stopping;
  expect(existsSync(made.path)).toBe(false);
});

test('a crowd that never ends does not keep the socket for ever', async () => {
  await using made = await serve();
  const slow = connect(made.path);
  slow.write('GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  await vi.waitUntil(() => made.server.countUnderWay() === 1, 20_000);
  const stopping = stopServing(made.server, made.path, 100);
  await vi.waitUntil(() => !existsSync(made.path), 20_000);
  made.held.resolve();
  expect(await text(slow)).toMatch(/"at last"$/);
  await stopping;
});

test('whoever had connected is answered, and nobody new connects', async () => {
  await using made = await serve();
  const early = connect(made.path);
  await once(early, 'connect');
  const stopping = stopServing(made.server, made.path);
  await vi.waitUntil(() => !existsSync(made.path), 20_000);
  const late = connect(made.path);
  expect(await once(late, 'error')).toMatchObject([{ code: 'ENOENT' }]);
  early.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  expect(await text(early)).toMatch(/^HTTP\/1.1 200 .*"fine"$/s);
  await stopping;
});

test('a request under way is waited for, however long it takes', async () => {
  await using made = await serve();
  const slow = connect(made.path);
  await once(slow, 'connect');
  slow.write('GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  const stopping = stopServing(made.server, made.path);
  setTimeout(made.held.resolve, 3_000);
  expect(await text(slow)).toMatch(/"at last"$/);
  await stopping;
});
