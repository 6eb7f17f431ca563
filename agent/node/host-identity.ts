import { readFileSync } from 'node:fs';

/** Which host, and which of its lives: a network namespace does not survive a reboot. */
export interface HostIdentity {
  readonly bootID: string;
  /** Absent where it cannot be read: then nobody knows whether another boot was of this host. */
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
