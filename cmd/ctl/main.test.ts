import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { type SeenRequest, startFakeAgent } from '#test/support/fake-agent.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const held = { address: '10.0.0.5', records: [buildRecord()], pools: ['v4'], reservedBy: [] };
const answer = ({ method }: SeenRequest) => ({ body: method === 'POST' ? { released: true } : held });

/** `typed` is sent after the prompt appears: before that the terminal handles keys differently. */
async function run(command: string, args: string[], socket: string, typed?: string) {
  const child = spawn(command, args, { env: { ...process.env, IPLEDGER_SOCKET: socket } });
  if (typed === undefined) child.stdin.end();
  else child.stdout.on('data', (chunk: Buffer) => chunk.includes('[y/N]') && child.stdin.write(typed));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

test('the environment names the socket and the process ends with the exit code', async () => {
  await using agent = await startFakeAgent(answer);
  const { code, stdout } = await run(process.execPath, [main, 'who', '10.0.0.5'], agent.socketPath);
  expect(stdout).toContain('default/web (Container)');
  expect(code).toBe(0);
});

test('without an agent the exit code is 2, with two lines on stderr', async () => {
  const { code, stdout, stderr } = await run(process.execPath, [main, 'pools'], '/nowhere/agent.sock');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.split('\n')).toHaveLength(3);
});

test('a pipe on stdin cannot confirm', async () => {
  await using agent = await startFakeAgent(answer);
  const { code } = await run(process.execPath, [main, 'release', '10.0.0.5'], agent.socketPath);
  expect(code).toBe(2);
  expect(agent.seen.map(({ method }) => method)).toEqual(['GET']);
});

test.each([
  { name: 'a yes', typed: 'y\n', code: 0, methods: ['GET', 'POST'] },
  { name: 'a no', typed: 'n\n', code: 1, methods: ['GET'] },
  { name: 'the end of the input (^D)', typed: '\x04', code: 1, methods: ['GET'] },
])('on a terminal $name decides', async ({ typed, code, methods }) => {
  await using agent = await startFakeAgent(answer);
  const command = `${process.execPath} ${main} release 10.0.0.5`;
  const result = await run('script', ['-qec', command, '/dev/null'], agent.socketPath, typed);
  expect(result.stdout).toContain('Release 10.0.0.5, held by default/web? [y/N]');
  expect(result.code).toBe(code);
  expect(agent.seen.map(({ method }) => method)).toEqual(methods);
});
