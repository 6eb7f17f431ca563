import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { type Line, printTable } from './report.ts';
import { median, spread } from './statistics.ts';

const RUNS = 5;
const MOST_MB = 45;

/** Everything of pkg/kube that a daemon uses, with KubeConfig at work. */
const PROGRAM = `
import { KubeClient } from '#pkg/kube/client/client.ts';
import { createDefinite, deleteDefinite, updateDefinite } from '#pkg/kube/write/definite-write.ts';
import { Election } from '#pkg/kube/leader/election.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
globalThis.used = [createDefinite, deleteDefinite, updateDefinite, Election, Reflector, WorkQueue];
globalThis.client = new KubeClient(accessFrom({ from: 'kubeconfig', file: process.argv[2] }), { userAgent: 'bench' });
globalThis.access = await accessFrom({ from: 'kubeconfig', file: process.argv[2] })();
`;

const REPORT_RSS = `
import { readFileSync } from 'node:fs';
setTimeout(() => console.log(readFileSync('/proc/self/status', 'utf8').match(/VmRSS:\\s+(\\d+)/)[1]), 5_000);
`;

const KUBECONFIG = {
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
};

/** VmRSS of the bundle, compared with a bare Node process, each 5 s after its start. */
export async function benchImport(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-import-'));
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, JSON.stringify(KUBECONFIG));
    const [bare, bundled] = [join(directory, 'bare.mjs'), join(directory, 'kube.mjs')];
    await bundle(REPORT_RSS, bare);
    await bundle(PROGRAM + REPORT_RSS, bundled);
    const differences: number[] = [];
    const totals: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const [without, total] = await Promise.all([rssMb(bare, kubeconfig), rssMb(bundled, kubeconfig)]);
      differences.push(total - without);
      totals.push(total);
    }
    const line: Line = {
      what: 'importing pkg/kube',
      value: `${median(totals).toFixed(1)} MB`,
      against: `bare Node + ${median(differences).toFixed(1)} MB ± ${(spread(differences) * 100).toFixed(0)} %`,
      limit: `at most + ${MOST_MB} MB`,
      isMet: median(differences) <= MOST_MB,
    };
    printTable('Memory of the import, bundled', [line]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function bundle(contents: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents, resolveDir: import.meta.dirname, sourcefile: 'program.ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    outfile,
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
  });
}

async function rssMb(program: string, argument: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, argument]);
  return Number(stdout) / 1024;
}
