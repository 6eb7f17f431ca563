import type { Holder } from '#pkg/record/ip-record.ts';
import { type HostIdentity, type NetnsAtPath, seeNetnsAt } from './netns-evidence.ts';
import { type ProcessNamespaces, scanProcessNamespaces } from './process-namespaces.ts';

/**
 * What one look says of a holder's network namespace (rule 6).
 * `gone`: neither its path nor a process leads to it, or the host was rebooted since.
 * `bare`: it is there without any link but lo. So is a new one whose main plugin has not made the link yet.
 * `path-gone`: its path does not lead to it, and whether a process is in it is not known.
 */
export type NetnsLook = 'there' | 'gone' | 'bare' | 'path-gone' | 'unclear';

/** Where a look gets what it knows. */
export interface NetnsSight {
  readonly host: HostIdentity;
  readonly atPath: (path: string) => NetnsAtPath;
  /** Null where the processes of the host are not seen. */
  readonly scanProcesses: () => Promise<ProcessNamespaces | null>;
  /** Null where it is unknown, or where another namespace is at the path. */
  readonly linksIn: (path: string, inode: number) => readonly string[] | null;
}

export type LookAtNetns = (holder: Pick<Holder, 'netns' | 'netnsInode' | 'bootID' | 'machineID'>) => Promise<NetnsLook>;

/** One round of looks: the processes are looked at once for all of them, and only if it matters. */
export type BeginLooks = () => LookAtNetns;

/** On this host. Without `linksIn` a namespace is never seen bare. */
export function hostSight(host: HostIdentity, linksIn: NetnsSight['linksIn'] = () => null): NetnsSight {
  return { host, atPath: seeNetnsAt, scanProcesses: scanProcessNamespaces, linksIn };
}

export function looksFrom(sight: NetnsSight): BeginLooks {
  return () => {
    let scan: Promise<ProcessNamespaces | null> | null = null;
    const scanOnce = () => {
      scan ??= sight.scanProcesses();
      return scan;
    };
    return (holder) => look(holder, sight, scanOnce);
  };
}

/** `gone` only where the namespace would be visible: an agent that cannot look there knows nothing. */
async function look(
  { netns, netnsInode, bootID, machineID }: Parameters<LookAtNetns>[0],
  { host, atPath, linksIn }: NetnsSight,
  scanOnce: NetnsSight['scanProcesses'],
): Promise<NetnsLook> {
  if (bootID !== undefined && bootID !== host.bootID) {
    return machineID !== undefined && machineID === host.machineID ? 'gone' : 'unclear';
  }
  const seen = netns === undefined ? 'hidden' : atPath(netns);
  if (netns === undefined || seen === 'hidden') return 'unclear';
  if (netnsInode === undefined) return seen === 'missing' ? 'path-gone' : 'there';
  if (seen === netnsInode) return isBare(linksIn(netns, netnsInode)) ? 'bare' : 'there';
  const processes = await scanOnce();
  if (processes === null) return 'path-gone';
  // A new namespace may have got the number of the old one: taking it for the old one is the safe mistake.
  if (processes.inodes.has(netnsInode)) return 'there';
  return processes.isComplete ? 'gone' : 'unclear';
}

function isBare(links: readonly string[] | null): boolean {
  return links?.every((name) => name === 'lo') === true;
}
