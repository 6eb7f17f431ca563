import type { Logger } from 'pino';
import type { Releaser } from './releaser.ts';
import type { Spool } from './spool.ts';

/** Applies what the plugin wrote down while nobody listened. A file that makes no sense is set aside, never retried. */
export async function drainSpool(spool: Spool, releaser: Releaser, log: Logger): Promise<void> {
  for (const name of await spool.names()) {
    const entry = await spool.read(name);
    if (entry.kind === 'poison') {
      log.error({ file: name, why: entry.why }, 'spooled DEL set aside: it cannot be read');
      await spool.setAside(name);
    } else if (entry.kind === 'del') {
      const released = await releaser.delSpooled(name, entry.args);
      if (released === null) continue;
      const { containerID, ifName } = entry.args;
      const addresses = released.map(({ record }) => record.spec.address);
      log.info({ containerID, ifName, addresses }, 'spooled DEL applied');
    }
  }
}
