import { existsSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Holder } from '#pkg/record/ip-record.ts';

/** Which host, and which boot of it: a network namespace does not survive a reboot. */
export interface HostIdentity {
  readonly bootID: string;
  /** Absent where it cannot be read: then it is unknown whether another boot was of this host. */
  readonly machineID?: string;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const MACHINE_ID = '/etc/machine-id';
/** A host that was never booted has an empty file, or the word `uninitialized`. */
const VALID_MACHINE_ID = /^[0-9a-f]{32}$/;

export function readHostIdentity(machineIdFile: string = MACHINE_ID): HostIdentity {
  const bootID = readFileSync(BOOT_ID, 'utf8').trim();
  const machineID = readMachineId(machineIdFile);
  return machineID === null ? { bootID } : { bootID, machineID };
}

function readMachineId(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return VALID_MACHINE_ID.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** The kernel's fixed number of a machine's first PID namespace (PROC_PID_INIT_INO). */
const FIRST = 'pid:[4026531836]';

/** Whether `/proc/<pid>` is the same process here as for the runtime. In another PID namespace it is none, or another process. */
export function seesHostProcesses(): boolean {
  try {
    return readlinkSync('/proc/self/ns/pid') === FIRST;
  } catch {
    return false;
  }
}

const NSFS = 0x6e736673;

/**
 * The inode of the namespace at a path. `other`: something else is there. `hidden`: this process does not see what the
 * runtime sees at this path.
 */
export type NetnsAtPath = number | 'other' | 'missing' | 'hidden';

/** Synchronous on purpose: a look at tmpfs or /proc is cheaper than a trip through the thread pool. */
export function seeNetnsAt(path: string): NetnsAtPath {
  const isOfProcess = path.startsWith('/proc/');
  if (isOfProcess && !seesHostProcesses()) return 'hidden';
  try {
    const { ino } = statSync(path);
    return statfsSync(path).type === NSFS ? ino : 'other';
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    const isAbsent = code === 'ENOENT' || code === 'ENOTDIR';
    return isAbsent && (isOfProcess || existsSync(dirname(path))) ? 'missing' : 'hidden';
  }
}

/** What a record keeps of the place where its sandbox was seen: the evidence for "it is gone" (rule 6). */
type NetnsEvidence = Pick<Holder, 'netns' | 'netnsInode' | 'bootID' | 'machineID'>;

export type DescribeNetns = (path: string) => NetnsEvidence;

/** Nothing for a path that this agent does not see. */
export function describeNetnsOn(host: HostIdentity): DescribeNetns {
  return (path) => {
    const seen = seeNetnsAt(path);
    if (seen === 'missing' || seen === 'hidden') return {};
    return { netns: path, ...(seen === 'other' ? {} : { netnsInode: seen }), ...host };
  };
}
