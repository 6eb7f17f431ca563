import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunAlive, tagOfThisRun } from './run-owner.ts';
import { type Finished, mustRun, type ProgramSetting, runProgram } from './run-program.ts';

const NETNS_DIRECTORY = '/var/run/netns';
const NAME = /^ipl-(?<owner>\d+-\d+)-\d+$/;

export interface Netns extends AsyncDisposable {
  readonly name: string;
  readonly path: string;
  /** Uses `nsenter --net`, because `ip netns exec` would mount another /sys. */
  run(program: string, args: readonly string[], setting?: ProgramSetting): Promise<Finished>;
  /** For steps that must succeed: any failure throws. */
  must(program: string, ...args: readonly string[]): Promise<string>;
  /** Deletes it early, like a runtime that tears a sandbox down. */
  remove(): Promise<void>;
}

let made = 0;
let swept: Promise<void> | undefined;

/** A real network namespace with its loopback up. Needs root. */
export async function makeNetns(): Promise<Netns> {
  swept ??= removeLeftoverNetns();
  await swept;
  made += 1;
  const number = made;
  const name = `ipl-${await tagOfThisRun()}-${number}`;
  const path = join(NETNS_DIRECTORY, name);
  await mustRun('ip', 'netns', 'add', name);
  await mustRun('ip', '-n', name, 'link', 'set', 'lo', 'up');
  const remove = () => removeNetns(name);
  return {
    name,
    path,
    run: (program, args, setting) => runProgram('nsenter', [`--net=${path}`, program, ...args], setting),
    must: (program, ...args) => mustRun('nsenter', `--net=${path}`, program, ...args),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/** Namespaces of runs that died before they could clean up. Those of living runs stay. */
export async function removeLeftoverNetns(): Promise<void> {
  for (const name of await listNetns()) {
    const owner = NAME.exec(name)?.groups?.['owner'];
    if (owner !== undefined && !(await isRunAlive(owner))) await removeNetns(name);
  }
}

async function listNetns(): Promise<string[]> {
  return await readdir(NETNS_DIRECTORY).catch(() => []);
}

async function removeNetns(name: string): Promise<void> {
  if ((await listNetns()).includes(name)) await mustRun('ip', 'netns', 'delete', name);
}
