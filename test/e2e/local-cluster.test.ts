import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { runProgram } from '#test/support/run-program.ts';

const SCRIPT = join(import.meta.dirname, '../../hack/local-cluster');
/** The script waits for another one that runs already, and each step starts processes. */
const TIMEOUT_MS = 600_000;

interface Running {
  readonly child: ChildProcess;
  output(): string;
  until(text: string): Promise<void>;
  end(): Promise<number | null>;
}

async function startScript(...args: string[]): Promise<Running> {
  await builtPath('ipledger-agent');
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', SCRIPT, ...args], {
    env: { ...process.env, ...launchEnvironment() },
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  const closed = once(child, 'close');
  const output = () => chunks.join('');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    output,
    until: async (text) => {
      await vi.waitUntil(() => output().includes(text) || hasEnded(), { timeout: TIMEOUT_MS, interval: 100 });
      expect(output()).toContain(text);
    },
    end: async () => {
      await closed;
      return child.exitCode;
    },
  };
}

async function leftovers(): Promise<string[]> {
  const namespaces = await readdir('/var/run/netns').catch(() => []);
  return namespaces.filter((name) => name.startsWith('ipl-local-'));
}

test('the local cluster prints the expected output, runs until Enter with --keep, and leaves nothing behind', {
  timeout: TIMEOUT_MS,
}, async () => {
  const script = await startScript('--keep');
  await script.until('Enter or Ctrl-C ends it.');
  const output = script.output();
  const rows = [...output.matchAll(/^(web-\d) {2}(10\.98\.0\.\d+) {2}(worker-\d) {2}(in use|given back)/gm)];
  expect(rows.map(([, pod, , node, state]) => `${pod} ${node} ${state}`)).toEqual([
    'web-1 worker-1 in use',
    'web-2 worker-1 given back',
    'web-3 worker-2 in use',
    'web-4 worker-2 given back',
  ]);
  const addresses = rows.map(([, , address = '']) => address);
  expect(new Set(addresses).size).toBe(4);
  expect(output).toMatch(/^shop {3}10\.98\.0\.20[01], 10\.98\.0\.20[01]: the application's own pool, gone with it$/m);
  expect(output).toContain('denied request: the record is of node worker-1');

  const exported = /export KUBECONFIG=(\S+) PATH=\S+?:([^:\s]+):\$PATH/.exec(output);
  const [, kubeconfig = '', assets = ''] = exported ?? [];
  const { stdout } = await runProgram(join(assets, 'kubectl'), [
    'get',
    'ipr',
    '-o',
    'name',
    '--kubeconfig',
    kubeconfig,
  ]);
  const inUse = [addresses[0], addresses[2]].map((address) => `iprecord.ipledger.io/${address}`);
  expect(stdout.trim().split('\n')).toEqual(inUse.toSorted());

  script.child.stdin?.write('\n');
  expect(await script.end()).toBe(0);
  expect(await leftovers()).toEqual([]);
  expect(existsSync(kubeconfig)).toBe(false);
});

test('a local cluster that is interrupted leaves nothing behind', { timeout: TIMEOUT_MS }, async () => {
  const script = await startScript();
  await script.until('ip netns add ipl-local-web-1');
  script.child.kill('SIGTERM');
  expect(await script.end()).toBe(143);
  expect(script.output()).toContain('Interrupted; cleaning up.');
  expect(await leftovers()).toEqual([]);
  const directory = /local-cluster-server\.ts (\S+)/.exec(script.output())?.[1] ?? '';
  expect(directory).not.toBe('');
  expect(existsSync(directory)).toBe(false);
  const processes = await runProgram('ps', ['-eo', 'args']);
  expect(processes.stdout).not.toContain(directory);
});
