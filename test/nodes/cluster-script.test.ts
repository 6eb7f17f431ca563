import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { listCgroups } from '#test/real-cluster/cgroups.ts';
import { RUN_PREFIX } from '#test/real-cluster/leftovers.ts';
import { launchEnvironment } from '#test/support/built.ts';
import { mustRun } from '#test/support/run-program.ts';
import { until } from './until.ts';

const SCRIPT = join(import.meta.dirname, '../../hack/cluster');

/** A directory of its own for all that the script and the cluster write. */
async function openShell() {
  const dir = await mkdtemp(join(tmpdir(), 'ipl-script-'));
  const start = (...args: readonly string[]) =>
    spawn(SCRIPT, args, {
      // A process group of its own, as a shell gives to what is typed.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...launchEnvironment(), TMPDIR: dir },
    });
  const run = async (...args: readonly string[]) => await finish(start(...args));
  /** The name of the cluster's directory and cgroup, once there is one. */
  const name = () =>
    until('the cluster has a directory', async () => (await readdir(dir)).find((it) => it.startsWith(RUN_PREFIX)));
  const remove = () => rm(dir, { recursive: true, force: true });
  return { dir, start, run, name, [Symbol.asyncDispose]: async () => run('down').then(remove) };
}

async function finish(child: ChildProcess) {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the script has no output');
  const [said, warned] = await Promise.all([text(stdout), text(stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout: said, stderr: warned };
}

/** What is left of a cluster: files, cgroups, processes, links. */
async function tracesOf(dir: string, name: string): Promise<readonly string[]> {
  const links = await mustRun('ip', '-brief', 'link');
  return [
    ...(await readdir(dir)).map((file) => `file ${file}`),
    ...(await listCgroups(name)).map((group) => `cgroup ${group}`),
    ...(await processesOf(name)).map((command) => `process ${command}`),
    ...links.split('\n').filter((line) => /^(mgmt|underlay|n\d+-eth)/.test(line)),
  ];
}

/** Every process of a cluster has its directory among its words, or runs in its cgroup. */
async function processesOf(name: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const seen = await Promise.all(
    pids.map(async (pid) => {
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
      const [command, groups] = [await read('cmdline'), await read('cgroup')];
      return `${command}${groups}`.includes(name) ? [command.replaceAll('\0', ' ')] : [];
    }),
  );
  return seen.flat();
}

test('a cluster that Ctrl-C ends while it starts leaves no trace', async () => {
  await using shell = await openShell();
  const child = shell.start('up', '1');
  const finished = finish(child);
  const name = await shell.name();
  await until('the node is being started', async () => (await readdir(join(shell.dir, name))).includes('n1'));
  expect(await tracesOf(shell.dir, name)).not.toEqual([]);
  process.kill(-(child.pid ?? 0), 'SIGINT');
  expect(await finished).toMatchObject({ code: 130 });
  // The log of a start that did not succeed stays to be read.
  expect(await tracesOf(shell.dir, name)).toEqual(['file ipledger-cluster.log']);
});

test('a cluster is up, answers kubectl, and is down without a trace', async () => {
  await using shell = await openShell();
  const up = await shell.run('up', '1');
  expect(up, up.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('ready: hack/cluster kubectl') });
  const name = await shell.name();
  const nodes = await shell.run('kubectl', 'get', 'nodes');
  expect(nodes.stdout).toMatch(/^n1 +Ready /m);
  const agents = await shell.run('kubectl', '--namespace=ipledger', 'get', 'pods', '--no-headers');
  expect(agents.stdout).toMatch(/^ipledger-agent-\w+ +1\/1 +Running /m);
  expect((await shell.run('up', '1')).stderr).toContain('a cluster is running already');
  expect(await shell.run('down')).toMatchObject({ code: 0 });
  expect(await tracesOf(shell.dir, name)).toEqual([]);
});
