import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prepareSocketPath } from './socket-path.ts';

async function makeDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-socket-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function listenOn(path: string) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

test('a missing directory is made for root alone', async () => {
  await using made = await makeDirectory();
  await prepareSocketPath(join(made.path, 'deep', 'run', 'a.sock'));
  expect((await stat(join(made.path, 'deep', 'run'))).mode & 0o777).toBe(0o700);
});

test('a socket that nobody answers on is taken over', async () => {
  await using made = await makeDirectory();
  const path = join(made.path, 'a.sock');
  const server = await listenOn(join(made.path, 'b.sock'));
  await rename(join(made.path, 'b.sock'), path);
  await new Promise((resolve) => server.close(resolve));
  await prepareSocketPath(path);
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('a socket that somebody answers on is left alone', async () => {
  await using made = await makeDirectory();
  const path = join(made.path, 'a.sock');
  const server = await listenOn(path);
  await expect(prepareSocketPath(path)).rejects.toMatchObject({
    reason: 'bad-config',
    message: expect.stringContaining('another agent answers') as string,
  });
  expect((await stat(path)).isSocket()).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});

test('a file that is no socket is left alone', async () => {
  await using made = await makeDirectory();
  const path = join(made.path, 'a.sock');
  await writeFile(path, 'precious');
  await expect(prepareSocketPath(path)).rejects.toThrow('is not a socket');
});

test('a directory that others may write is refused', async () => {
  await using made = await makeDirectory();
  await chmod(made.path, 0o777);
  await expect(prepareSocketPath(join(made.path, 'a.sock'))).rejects.toThrow('may be written by others');
});

test('a socket whose queue is full belongs to somebody: it is left alone', async () => {
  await using made = await makeDirectory();
  const path = join(made.path, 'a.sock');
  const program = `require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => console.log('up'))`;
  const owner = spawn(process.execPath, ['-e', program]);
  const lines: Socket[] = [];
  try {
    await once(owner.stdout, 'data');
    owner.kill('SIGSTOP');
    const isFull = async () => {
      const line = connect(path);
      lines.push(line);
      return await once(line, 'connect').then(
        () => false,
        () => true,
      );
    };
    for (let at = 0; at < 100 && !(await isFull()); at += 1);
    await expect(prepareSocketPath(path)).rejects.toThrow('another agent answers');
    expect((await stat(path)).isSocket()).toBe(true);
  } finally {
    for (const line of lines) line.on('error', () => {}).destroy();
    owner.kill('SIGKILL');
  }
});
