import { join } from 'node:path';
import { findFreePort } from './api-ports.ts';
import { type ServerProcess, startServerProcess } from './api-process.ts';

export interface Etcd extends ServerProcess {
  readonly url: string;
}

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
  const server = await startServerProcess({ program, args, port, logFile: join(dir, 'etcd.log'), isReady });
  return { ...server, url };
}
