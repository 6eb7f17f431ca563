import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';

export const RUNS_ROOT = join(tmpdir(), `ipledger-api-servers-${userInfo().uid}`);
const SERVERS = ['etcd', 'kube-apiserver'];

/** The name contains pid and start time of the owner, so a directory has an owner at every moment. */
export async function createRunDir(): Promise<string> {
  await mkdir(RUNS_ROOT, { recursive: true });
  return mkdtemp(join(RUNS_ROOT, `${process.pid}-${await startTime(process.pid)}-`));
}

/** Kills the servers and removes the directories of runs whose owner is gone. */
export async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(RUNS_ROOT).catch(() => [])) {
    const [pid, started] = name.split('-');
    if ((await startTime(Number(pid))) === started) continue;
    const dir = join(RUNS_ROOT, name);
    for (const pid of await findServersOf(dir)) killIfAlive(pid);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function findServersOf(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const ours = await Promise.all(pids.map((pid) => isServerOf(pid, dir)));
  return pids.filter((_, index) => ours[index]);
}

/** The directory must be in its arguments too: a pid or a program name alone could belong to an unrelated process. */
async function isServerOf(pid: number, dir: string): Promise<boolean> {
  const [program, ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return SERVERS.includes(basename(program ?? '')) && args.some((arg) => arg.includes(`=${dir}/`));
}

/** Clock ticks since boot, the 22nd field; the 2nd is the program's name and may hold spaces. Null without such a process. */
async function startTime(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended already
  }
}
