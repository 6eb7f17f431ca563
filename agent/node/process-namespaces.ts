import { readdir, readlink } from 'node:fs/promises';
import { seesHostProcesses } from './netns-evidence.ts';

/** The network namespaces that have a process in them. */
export interface ProcessNamespaces {
  readonly inodes: ReadonlySet<number>;
  /** False where a process did not show its own: CAP_SYS_PTRACE is missing, or a security module forbids it. */
  readonly isComplete: boolean;
}

/** Not the first one, which started the host: it is in no namespace of a pod, and some hosts hide it even from root. */
const PROCESS = /^(?!1$)[1-9]\d*$/;
const LINK = /^net:\[(\d+)\]$/;

/** Null where this process does not see those of the host. */
export async function scanProcessNamespaces(): Promise<ProcessNamespaces | null> {
  return seesHostProcesses() ? await scanProcesses('/proc') : null;
}

export async function scanProcesses(proc: string): Promise<ProcessNamespaces> {
  const pids = (await readdir(proc)).filter((name) => PROCESS.test(name));
  const found = await Promise.all(pids.map((pid) => namespacesOf(`${proc}/${pid}`)));
  const seen = found.flat();
  return { inodes: new Set(seen.filter((it) => it !== null)), isComplete: !seen.includes(null) };
}

/** None of a process that has ended. The first thread may end before the others, which stay in the namespace. */
async function namespacesOf(directory: string): Promise<(number | null)[]> {
  const [first] = await namespaceOf(directory);
  if (first !== undefined) return [first];
  const threads = await readdir(`${directory}/task`).catch(() => []);
  return (await Promise.all(threads.map((id) => namespaceOf(`${directory}/task/${id}`)))).flat();
}

async function namespaceOf(directory: string): Promise<(number | null)[]> {
  try {
    const inode = LINK.exec(await readlink(`${directory}/ns/net`))?.[1];
    return [inode === undefined ? null : Number(inode)];
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ESRCH' ? [] : [null];
  }
}
