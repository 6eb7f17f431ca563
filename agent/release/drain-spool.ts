import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Releaser } from './releaser.ts';
import type { Spool } from './spool.ts';

/** Applies what the plugin wrote down while nobody listened. A file that makes no sense is set aside, never retried. */
export async function drainSpool(spool: Spool, releaser: Releaser, log: Logger): Promise<void> {
  for (const name of await spool.names()) {
    try {
      await drainEntry(name, spool, releaser, log);
    } catch (thrown) {
      log.error({ file: name, why: toIpamError(thrown).message }, 'spooled DEL not applied, tried again later');
    }
  }
}

async function drainEntry(name: string, spool: Spool, releaser: Releaser, log: Logger): Promise<void> {
  const entry = await spool.read(name);
  if (entry.kind === 'poison') {
    log.error({ file: name, why: entry.why }, 'spooled DEL set aside: it cannot be used');
    await spool.setAside(name);
  } else if (entry.kind === 'del') {
    const released = await releaser.delSpooled(name, entry.args);
    if (released === null) return;
    const { containerID, ifName } = entry.args;
    log.info(
      { containerID, ifName, addresses: released.map(({ record }) => record.spec.address) },
      'spooled DEL applied',
    );
  }
}
