import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { makeTemporaryDirectory } from '#test/contract/temporary-directory.ts';
import { lockDataDirectory } from './agent-lock.ts';

test('the second in one process is refused, until the first lets go', () => {
  using directory = makeTemporaryDirectory();
  const first = lockDataDirectory(directory.path);
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(() => lockDataDirectory(directory.path)).toThrow(
      `another ipledger-agent (pid ${process.pid}) uses ${directory.path}`,
    );
  }
  first[Symbol.dispose]();
  using second = lockDataDirectory(directory.path);
  first[Symbol.dispose]();
  expect(() => lockDataDirectory(directory.path)).toThrow(IpamError);
  second[Symbol.dispose]();
});

test('two directories do not disturb each other, and the files are private', () => {
  using a = makeTemporaryDirectory();
  using b = makeTemporaryDirectory();
  using _lockA = lockDataDirectory(a.path);
  using _lockB = lockDataDirectory(b.path);
  for (const file of readdirSync(a.path)) expect(statSync(join(a.path, file)).mode & 0o777).toBe(0o600);
});

test('another process is refused and told the pid; kill -9 of the holder frees the directory', async () => {
  using directory = makeTemporaryDirectory();
  await using holder = await startHolder(directory.path);
  expect(holder.said).toBe('held');
  expect(() => lockDataDirectory(directory.path)).toThrow(
    `another ipledger-agent (pid ${holder.process.pid}) uses ${directory.path}`,
  );
  await kill(holder.process);
  using _lock = lockDataDirectory(directory.path);
  expect(() => lockDataDirectory(directory.path)).toThrow(IpamError);
  await using loser = await startHolder(directory.path);
  expect(loser.said).toBe(`refused: another ipledger-agent (pid ${process.pid}) uses ${directory.path}`);
});

test('of many that start at once exactly one wins', async () => {
  using directory = makeTemporaryDirectory();
  const holders = await Promise.all(Array.from({ length: 4 }, () => startHolder(directory.path)));
  try {
    expect(holders.filter(({ said }) => said === 'held')).toHaveLength(1);
  } finally {
    await Promise.all(holders.map((holder) => holder[Symbol.asyncDispose]()));
  }
});

test('a lock that nobody refers to any more is kept', async () => {
  using directory = makeTemporaryDirectory();
  await using holder = await startHolder(
    directory.path,
    'for (let n = 0; n < 5; n++) { gc(); await new Promise(setImmediate); }',
  );
  expect(holder.said).toBe('held');
  expect(() => lockDataDirectory(directory.path)).toThrow(IpamError);
});

test.each(['', 'nonsense', '-'])('a pid file with %j in it is no hindrance', async (text) => {
  using directory = makeTemporaryDirectory();
  using _lock = lockDataDirectory(directory.path);
  writeFileSync(join(directory.path, 'lock.pid'), text);
  expect(() => lockDataDirectory(directory.path)).toThrow(
    `another ipledger-agent (pid unknown) uses ${directory.path}`,
  );
});

test('a directory that is not there is an io-failure', () => {
  using directory = makeTemporaryDirectory();
  expect(() => lockDataDirectory(join(directory.path, 'none'))).toThrow(
    expect.objectContaining({ reason: 'io-failure', message: expect.stringContaining('ENOENT') }),
  );
});

interface LockHolder extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly said: string;
}

async function startHolder(directory: string, before = ''): Promise<LockHolder> {
  const script = `
    import { lockDataDirectory } from ${JSON.stringify(import.meta.resolve('./agent-lock.ts'))};
    try { lockDataDirectory(${JSON.stringify(directory)}); ${before} console.log('held'); }
    catch (thrown) { console.log('refused: ' + thrown.message); }
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return { process: child, said: String(chunk).trim(), [Symbol.asyncDispose]: () => kill(child) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
