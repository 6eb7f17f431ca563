import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryAgent } from '#test/support/memory-agent.ts';
import { buildServer } from './server.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });

async function listening() {
  const made = await startMemoryAgent([POOL]);
  const server = buildServer(made.agent, pino({ level: 'silent' }));
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-stop-'));
  const path = join(directory, 'agent.sock');
  await server.listen(path);
  const lines: Socket[] = [];
  return {
    server,
    /** A caller that sends this much and then nothing. */
    async call(words: string): Promise<Socket> {
      const line = connect(path);
      lines.push(line.on('error', () => {}));
      await new Promise((connected) => line.once('connect', connected));
      if (words !== '') await new Promise((sent) => line.write(words, sent));
      // Whatever was sent before has been read once a whole call is answered.
      await text(connect(path).end(`GET ${PATHS.healthy} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`));
      return line;
    },
    async [Symbol.asyncDispose]() {
      for (const line of lines) line.destroy();
      await rm(directory, { recursive: true });
      await made[Symbol.asyncDispose]();
    },
  };
}

test.each([
  { name: 'nothing at all', words: '' },
  { name: 'half a head', words: `POST ${PATHS.ip} HTTP/1.1\r\nhost: a\r\n` },
  { name: 'half a body', words: `POST ${PATHS.ip} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{` },
])('a caller that says $name does not keep the agent from stopping', async ({ words }) => {
  await using made = await listening();
  const line = await made.call(words);
  const hungUp = new Promise((closed) => line.once('close', closed));
  await made.server.close();
  line.resume();
  await hungUp;
  expect(line.destroyed).toBe(true);
});

test('a caller that was connected before the agent stops is still served if it speaks at once', async () => {
  await using made = await listening();
  const line = await made.call('');
  const answer = text(line);
  const stopped = made.server.close();
  line.write(`GET ${PATHS.status} HTTP/1.1\r\nhost: a\r\n\r\n`);
  expect(await answer).toContain('{"ready":true}');
  await stopped;
});
