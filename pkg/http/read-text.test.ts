import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readText } from './read-text.ts';

const MOST = 1000;

/** A server that tells what it read, and what the last sender came to. */
async function serve() {
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

function request(chunks: readonly string[]): string {
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
  await using server = await serve();
  const answer = await text(connect(server.port, '127.0.0.1').end(request(chunks)));
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toBe(read);
});

test('a sender that goes away in the middle is an error, not an end', async () => {
  await using server = await serve();
  const line = connect(server.port, '127.0.0.1');
  line.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"a":');
  await expect.poll(() => server.ends.length).toBe(1);
  line.destroy();
  await expect(server.ends[0]).rejects.toThrow(/went away|aborted/);
});
