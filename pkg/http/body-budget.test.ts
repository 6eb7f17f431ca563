import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { BodyBudget, type BudgetedBody } from './body-budget.ts';

const MOST_EACH = 1_000;
const MOST_TOGETHER = 3_000;

async function serve() {
  const budget = new BodyBudget(MOST_TOGETHER);
  const bodies: BudgetedBody[] = [];
  const server = createServer((incoming, outgoing) => {
    budget.read(incoming, MOST_EACH).then(
      (body) => {
        bodies.push(body);
        outgoing.end('text' in body ? body.text : body.refusal);
      },
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const post = async (body: string) =>
    (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: { connection: 'close' } })).text();
  return {
    budget,
    bodies,
    post,
    /** A body of which only the beginning is sent. */
    begin: (bytes: number): Socket => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${MOST_EACH}\r\n\r\n${'x'.repeat(bytes)}`);
      return socket;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

test('a body counts until it is released', async () => {
  await using server = await serve();
  expect(await server.post('x'.repeat(900))).toBe('x'.repeat(900));
  expect(server.budget.bytes).toBe(900);
  const [body] = server.bodies;
  if (body !== undefined && 'release' in body) body.release();
  expect(server.budget.bytes).toBe(0);
});

test('one that is too long is refused, and counts no longer', async () => {
  await using server = await serve();
  expect(await server.post('x'.repeat(1_001))).toBe('too-long');
  expect(await server.post('x'.repeat(5_000_000))).toBe('too-long');
  expect(server.budget.bytes).toBe(0);
});

test('one that would need much memory when it is parsed is refused', async () => {
  await using server = await serve();
  expect(await server.post('['.repeat(90))).toBe('too-busy');
  expect(await server.post('['.repeat(20))).toBe('['.repeat(20));
});

test('of many unfinished bodies the largest is given up, and a short one is read', async () => {
  await using server = await serve();
  const senders = [900, 800, 700].map((bytes) => server.begin(bytes));
  const answers: string[] = [];
  for (const sender of senders) sender.on('data', (chunk) => answers.push(String(chunk).slice(-8)));
  await vi.waitUntil(() => server.budget.bytes === 2_400, 20_000);
  expect(await server.post('y'.repeat(700))).toBe('y'.repeat(700));
  await vi.waitUntil(() => answers.length > 0, 20_000);
  expect([answers, server.budget.bytes]).toEqual([['too-busy'], 2_200]);
  for (const sender of senders) sender.destroy();
  await vi.waitUntil(() => server.budget.bytes === 700, 20_000);
});
