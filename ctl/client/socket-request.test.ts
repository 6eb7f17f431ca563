import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { IpamError } from '#pkg/errors/ipam-error.ts';
import { ask } from './socket-request.ts';

const HOST = { timeoutMs: 1_000, isKubernetesNode: false };
const question = { method: 'GET', path: '/' } as const;

test('a missing socket is named, with the way to start the agent', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'ipl-ctl-'));
  const path = join(directory.path, 'agent.sock');
  await expect(ask({ socketPath: path, ...HOST }, question)).rejects.toMatchObject({
    reason: 'agent-unavailable',
    message: `the agent is not running: there is no socket ${path}`,
    details: expect.stringContaining(`ipledger-agent --standalone --pools DIR --data DIR --socket ${path}`),
  });
});

test('on a Kubernetes node nobody is told to start an agent with a ledger of its own', async () => {
  const place = { socketPath: '/nowhere/agent.sock', timeoutMs: 1_000, isKubernetesNode: true };
  const failed = await ask(place, question).catch((thrown: IpamError) => thrown);
  expect(failed).toMatchObject({
    details: expect.stringContaining('kubectl get pods -A -o wide -l app.kubernetes.io/'),
  });
  expect(failed).toMatchObject({ details: expect.not.stringContaining('--standalone') });
});

test('a socket that a killed agent left behind is told apart from a missing one', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'ipl-ctl-'));
  const path = join(directory.path, 'agent.sock');
  await leaveSocketBehind(path);
  await expect(ask({ socketPath: path, ...HOST }, question)).rejects.toMatchObject({
    message: `the agent is not running: no process listens on ${path}`,
  });
});

test('a file that is no socket is not an agent', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'ipl-ctl-'));
  const path = join(directory.path, 'agent.sock');
  await writeFile(path, '');
  await expect(ask({ socketPath: path, ...HOST }, question)).rejects.toMatchObject({ reason: 'agent-unavailable' });
});

test('another user than root is told to become root', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'ipl-ctl-'));
  const path = join(directory.path, 'agent.sock');
  await leaveSocketBehind(path);
  await chmod(directory.path, 0);
  const module = new URL('./socket-request.ts', import.meta.url).href;
  const script = `import { ask } from ${JSON.stringify(module)};
    if (process.getuid() === 0) process.setuid(65534);
    await ask(${JSON.stringify({ socketPath: path, ...HOST })}, { method: 'GET', path: '/' }).catch((e) => console.log(e.message, e.details));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  await chmod(directory.path, 0o700);
  expect(Buffer.concat(chunks).toString()).toBe(
    `permission denied on ${path} Only root may talk to the agent: run ipledgerctl as root.\n`,
  );
});

async function leaveSocketBehind(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script, path]), 'exit');
}
