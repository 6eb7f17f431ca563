import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { callSocket } from '#test/support/socket-call.ts';
import { readText, SocketAnswer, type SocketHandler, SocketServer } from './socket-server.ts';

async function serve(handler: SocketHandler) {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-socket-'));
  const path = join(directory, 'a.sock');
  const server = new SocketServer((thrown) => new SocketAnswer(500, toIpamError(thrown).message));
  server.on('GET', '/x', handler);
  await server.listen(path);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

const bodiesOf = (answers: string) => [...answers.matchAll(/\r\n\r\n("[^"]*")/g)].map(([, body]) => body);

test.each([
  { name: 'nothing', value: undefined },
  { name: 'a number without end in JSON', value: 10n },
])('a handler that returns $name is a fault that is told, and the next call is served', async ({ value }) => {
  let isFirst = true;
  await using made = await serve(async () => {
    if (!isFirst) return 'fine';
    isFirst = false;
    return value;
  });
  expect((await callSocket(made.path, { path: '/x' })).status).toBe(500);
  expect(await callSocket(made.path, { path: '/x' })).toEqual({ status: 200, text: '"fine"' });
});

test('a query may hold anything, also a question mark', async () => {
  await using made = await serve(async ({ query }) => [...query]);
  const { text: answer } = await callSocket(made.path, { path: '/x?a=1?&b=%20&a=2' });
  expect(JSON.parse(answer)).toEqual([
    ['a', '1?'],
    ['b', ' '],
    ['a', '2'],
  ]);
});

test('requests that come at once on one line are answered in their order', async () => {
  let served = 0;
  await using made = await serve(async () => {
    served += 1;
    const turn = served;
    if (turn === 1) await new Promise((resolve) => setTimeout(resolve, 50));
    return `answer ${turn}`;
  });
  const line = connect(made.path);
  const one = 'GET /x HTTP/1.1\r\nhost: a\r\n\r\n';
  line.write(one + one + one.replace('host', 'connection: close\r\nhost'));
  expect(bodiesOf(await text(line))).toEqual(['"answer 1"', '"answer 2"', '"answer 3"']);
});

test.each([
  { name: 'no HTTP', words: 'hello\r\n\r\n', says: /^HTTP\/1.1 400 / },
  {
    name: 'a head of 20 KiB',
    words: `GET /x HTTP/1.1\r\nhost: ${'a'.repeat(20_000)}\r\n\r\n`,
    says: /^HTTP\/1.1 431 /,
  },
  {
    name: 'two lengths',
    words: 'GET /x HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    says: /^HTTP\/1.1 400 /,
  },
])('$name is refused, and the next call is served', async ({ words, says }) => {
  await using made = await serve(async () => 'fine');
  expect(await text(connect(made.path).end(words))).toMatch(says);
  expect((await callSocket(made.path, { path: '/x' })).status).toBe(200);
});

const MOST = 1000;

/** A server that tells what it read, and what the last sender came to. */
async function serveReads() {
  const ends: Promise<string | null>[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const read = readText(request, MOST);
    ends.push(read);
    read.then(
      (body) => response.end(JSON.stringify(body)),
      () => response.destroy(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    ends,
    port,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => server.close(() => closed())),
  };
}

function chunkedRequest(chunks: readonly string[]): string {
  const body = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('');
  return `POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`;
}

test.each([
  { name: 'nothing', chunks: [], read: '' },
  { name: 'one chunk', chunks: ['{"a":1}'], read: '{"a":1}' },
  { name: 'many chunks', chunks: ['ab', 'cd', 'ef'], read: 'abcdef' },
  { name: 'as much as is allowed', chunks: ['x'.repeat(MOST - 1), 'y'], read: `${'x'.repeat(MOST - 1)}y` },
  { name: 'one byte more', chunks: ['x'.repeat(MOST), 'y'], read: null },
  { name: 'much more, and the sender still reads the refusal', chunks: ['x'.repeat(5_000_000), 'y'], read: null },
  { name: 'characters of several bytes count by their bytes', chunks: ['ä'.repeat(MOST / 2 + 1)], read: null },
])('reads $name', async ({ chunks, read }) => {
  await using server = await serveReads();
  const answer = await text(connect(server.port, '127.0.0.1').end(chunkedRequest(chunks)));
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toBe(read);
});

test('a sender that goes away in the middle is an error, not an end', async () => {
  await using server = await serveReads();
  const line = connect(server.port, '127.0.0.1');
  line.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"a":');
  await expect.poll(() => server.ends.length).toBe(1);
  line.destroy();
  await expect(server.ends[0]).rejects.toThrow(/went away|aborted/);
});
