import { readlinkSync } from 'node:fs';

/** The kernel's fixed number of a machine's first PID namespace (PROC_PID_INIT_INO). */
const FIRST = 'pid:[4026531836]';

/** Whether `/proc/<pid>` means here what it means to the runtime; in a container it is nobody, or somebody else. */
export function seesHostProcesses(): boolean {
  try {
    return readlinkSync('/proc/self/ns/pid') === FIRST;
  } catch {
    return false;
  }
}
