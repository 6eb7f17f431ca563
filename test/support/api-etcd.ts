import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from './api-ports.ts';
import { type ServerProcess, startServerProcess } from './api-process.ts';

export interface Etcd extends AsyncDisposable {
  readonly url: string;
  /** Copies the data while etcd is stopped for a moment. */
  save(): Promise<void>;
  /** Starts on what was saved, as after a restore from a backup. Revisions go back, unless they are bumped as far. */
  restore(bumpBy: number): Promise<void>;
}

const AT_ONCE = 50;

export async function startEtcd(program: string, dir: string, fsync: boolean): Promise<Etcd> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [
    `--data-dir=${dir}/etcd`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--log-level=warn',
    ...(fsync ? [] : ['--unsafe-no-fsync']),
  ];
  const isReady = async () => (await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) })).ok;
  const command = { program, args, port, logFile: join(dir, 'etcd.log'), isReady };
  const [data, saved] = [join(dir, 'etcd'), join(dir, 'etcd-saved')];
  let server: ServerProcess = await startServerProcess(command);
  const whileStopped = async (work: () => Promise<void>) => {
    await server.kill();
    await work();
    server = await startServerProcess(command);
  };
  const replace = async (target: string, source: string) => {
    await rm(target, { recursive: true, force: true });
    await cp(source, target, { recursive: true });
  };
  return {
    url,
    save: () => whileStopped(() => replace(saved, data)),
    restore: async (bumpBy) => {
      await whileStopped(() => replace(data, saved));
      for (let left = bumpBy; left > 0; left -= AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, () => bump(url)));
    },
    [Symbol.asyncDispose]: () => server.kill(),
  };
}

/** One write more: the revision of the store is one higher. */
async function bump(url: string): Promise<void> {
  const body = JSON.stringify({ key: btoa('bump'), value: btoa('') });
  const { ok, status } = await fetch(`${url}/v3/kv/put`, { method: 'POST', body });
  if (!ok) throw new Error(`etcd answered ${status}`);
}
