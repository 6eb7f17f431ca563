import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICKS_PER_SECOND = 100;

export interface CpuMark {
  readonly atMs: number;
  readonly busyTicks: number;
  readonly ownTicks: number;
}

export function markCpu(): CpuMark {
  return { atMs: performance.now(), busyTicks: readBusyTicks(), ownTicks: readOwnTicks() };
}

/** The share of the machine's CPU that other processes used since the mark. */
export function foreignShare(since: CpuMark): number {
  const now = markCpu();
  const seconds = (now.atMs - since.atMs) / 1000;
  const foreignTicks = now.busyTicks - since.busyTicks - (now.ownTicks - since.ownTicks);
  return Math.max(0, foreignTicks / TICKS_PER_SECOND / seconds / availableParallelism());
}

function readBusyTicks(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return user + nice + system + irq + softirq;
}

/** This process and all its descendants, with the children they have waited for. */
function readOwnTicks(): number {
  const processes = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => readProcess(pid)),
  );
  let ticks = 0;
  for (const [pid, { ticks: own }] of processes) if (isOurs(pid, processes)) ticks += own;
  return ticks;
}

interface Process {
  readonly parent: number;
  readonly ticks: number;
}

function readProcess(pid: string): [number, Process][] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0] = fields.slice(1);
    const ticks = fields.slice(11, 15).reduce((sum, it) => sum + it, 0);
    return [[Number(pid), { parent, ticks }]];
  } catch {
    return [];
  }
}

function isOurs(pid: number, processes: ReadonlyMap<number, Process>): boolean {
  for (let at = pid; at > 1; at = processes.get(at)?.parent ?? 0) if (at === process.pid) return true;
  return false;
}
