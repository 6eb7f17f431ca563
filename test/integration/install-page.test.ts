import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { findApiBinaries } from '#test/support/api-binaries.ts';
import { callApi } from '#test/support/api-request.ts';
import { startApiServer } from '#test/support/api-server.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { deployController } from './deployed-controller.ts';

const ROOT = join(import.meta.dirname, '../..');
const POOL = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools/lab';
const CONFIGURATION = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/ipledger';
/** Every address of 127.0.0.0/8 is this host: the API server reaches the Service of the webhook without kube-proxy. */
const FLAGS = ['--service-cluster-ip-range=127.77.0.0/24'];
/** There is no Docker engine here; test/house/dockerfile.test.ts holds the Dockerfile. */
const DOCKER = '#!/bin/sh\ntest "$1" = build && test -f Dockerfile\n';
const PATIENCE = { timeout: 30_000, interval: 100 };

/** The page's chapter on installation. */
function chapterOfThePage(): string {
  const page = readFileSync(join(ROOT, 'docs/cluster.md'), 'utf8');
  return (page.split('\n## Install\n')[1] ?? '').split('\n## ')[0] ?? '';
}

/** Its commands, in order; a here-document belongs to its command. */
function commandsOfThePage(): string[] {
  const blocks = [...chapterOfThePage().matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  return blocks.flatMap((block) => block.match(/.*<<'EOF'\n[\s\S]*?\nEOF\n|.+\n/g) ?? []).map((it) => it.trim());
}

/** The shell of an operator: this repository after a build, kubectl, and a kubeconfig at its usual place. */
async function openShell(kubeconfigFile: string, stack: AsyncDisposableStack) {
  const home = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-home-')), (path) => rm(path, { recursive: true }));
  await mkdir(join(home, '.kube'));
  await copyFile(kubeconfigFile, join(home, '.kube/config'));
  await mkdir(join(home, 'bin'));
  await writeFile(join(home, 'bin/docker'), DOCKER);
  await chmod(join(home, 'bin/docker'), 0o755);
  const { kubectl } = await findApiBinaries();
  await builtPath('ipledgerctl');
  const [, built = 'not said'] = /`export PATH="\$PWD\/(\w+):\$PATH"`/.exec(chapterOfThePage()) ?? [];
  const programs = [join(home, 'bin'), dirname(kubectl), join(ROOT, built)];
  const env = { HOME: home, PATH: [...programs, launchEnvironment()['PATH']].join(':') };
  return async (command: string) => {
    const child = spawn('bash', ['-c', command], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 90_000,
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { command, code: child.exitCode, stdout, stderr };
  };
}

test('whoever follows the page, command by command, creates the first pool at the first try', async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startApiServer({ flags: FLAGS }));
  const shell = await openShell(server.kubeconfigFile, stack);
  const controller = deployController(server, stack);
  const logged = (message: string) => controller.lines.filter(({ msg }) => msg === message).length;
  const commands = commandsOfThePage();
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const done = await shell(command);
    expect(done, done.stderr).toMatchObject({ command, code: 0 });
  }

  const read = async <T>(path: string) => (await callApi(server, { path, token: server.adminToken })).body as T;
  type Pool = { readonly status?: { readonly totalIPCount?: number } };
  await vi.waitFor(async () => expect((await read<Pool>(POOL)).status?.totalIPCount).toBe(241), PATIENCE);
  const second = await shell(
    'kubectl get spiderippool lab -o yaml | sed "s/name: lab/name: second/" | kubectl create -f -',
  );
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('overlap with IPPool lab') });
  expect(logged('webhook configuration does not exist: pools are not validated until it is applied')).toBe(1);

  const written = logged('caBundle written into the webhook configurations');
  expect(written).toBeGreaterThan(0);
  await shell('kubectl replace -f deploy/webhook.yaml'); // the caBundle is gone again
  type Configuration = { readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[] };
  await vi.waitFor(async () => {
    const { webhooks } = await read<Configuration>(CONFIGURATION);
    expect(webhooks.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '')).toBe(true);
  }, PATIENCE);
  await vi.waitUntil(() => logged('caBundle written into the webhook configurations') > written, PATIENCE);
});
