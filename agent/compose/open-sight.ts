import type { Logger } from 'pino';
import { readHostIdentity } from '#agent/node/netns-evidence.ts';
import { hostSight, type NetnsSight } from '#agent/node/netns-look.ts';
import { scanProcessNamespaces } from '#agent/node/process-namespaces.ts';
import { NetnsLinks } from '#agent/probe/kernel/netns-links.ts';

const EFFECT = 'the agent cannot prove that a network namespace is gone: such addresses are released by DEL alone';

/** What this process sees of its host's network namespaces. What it does not see is logged once, here. */
export async function openSight(starting: AsyncDisposableStack, log: Logger): Promise<NetnsSight> {
  const host = readHostIdentity();
  const links = starting.use(new NetnsLinks());
  const processes = await scanProcessNamespaces();
  if (processes === null) {
    log.warn({ why: 'the processes of the host are not visible (hostPID)' }, EFFECT);
  } else if (!processes.isComplete) {
    const why = 'a process does not show its network namespace (CAP_SYS_PTRACE, AppArmor or SELinux)';
    log.warn({ why }, EFFECT);
  }
  if (host.machineID === undefined) {
    log.warn(
      'the host has no readable /etc/machine-id: after a reboot, records from before it are left to the controller',
    );
  }
  return hostSight(host, (path, inode) => links.namesIn(path, inode));
}
