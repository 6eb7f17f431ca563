import { readFile } from 'node:fs/promises';

/** Names this process by pid and start time, because a pid alone is used again. */
export async function tagOfThisRun(): Promise<string> {
  return `${process.pid}-${await startTimeOf(process.pid)}`;
}

export async function isRunAlive(tag: string): Promise<boolean> {
  const [pid, startTime] = tag.split('-');
  return (await startTimeOf(Number(pid))) === startTime;
}

/** The 22nd field of stat; the 2nd is the program's name and may contain any character. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}
