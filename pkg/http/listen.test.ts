import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen } from './listen.ts';

const AT = { port: 0, host: '127.0.0.1' };

test.each([
  { name: 'net', create: () => createServer() },
  { name: 'http', create: () => createHttpServer() },
  { name: 'https', create: () => createHttpsServer() },
])('a $name server that listens outlives an error such as EMFILE', async ({ create }) => {
  await using server = create();
  await listen(server, AT);
  expect((server.address() as AddressInfo).port).toBeGreaterThan(0);
  const outOfFiles = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
  expect(server.emit('error', outOfFiles)).toBe(true); // without a listener, emit throws
  expect(server.listening).toBe(true);
});

test('a port that another server has is an error', async () => {
  await using first = createServer();
  await listen(first, AT);
  const second = createServer();
  await expect(listen(second, first.address() as AddressInfo)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
