import type { Logger } from 'pino';
import { ROUND_MS } from '#agent/debts/round.ts';
import type { Spool } from '#agent/debts/spool.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Releaser } from './releaser.ts';

const AT_ONCE = 8;

export interface DrainOptions {
  /** What failed in earlier rounds, the longest ago first: it is tried after what had no turn yet. */
  readonly failed?: Set<string>;
  readonly nowMs?: () => number;
}

/**
 * Applies the DELs that the plugin spooled while no agent listened, for a bounded time: the rest stays for the next round. A file that
 * makes no sense is set aside, never retried.
 */
export async function drainSpool(
  spool: Spool,
  releaser: Releaser,
  log: Logger,
  { failed = new Set(), nowMs = () => performance.now() }: DrainOptions = {},
): Promise<void> {
  const endsAtMs = nowMs() + ROUND_MS;
  const names = inTurn(await spool.names(), failed).values();
  const drainSome = async () => {
    for (const name of names) {
      if (nowMs() >= endsAtMs) return;
      failed.delete(name);
      await drainEntry(name, spool, releaser, log).catch((thrown: unknown) => {
        failed.add(name);
        log.error({ file: name, why: toIpamError(thrown).message }, 'spooled DEL not applied, tried again later');
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, drainSome));
}

function inTurn(names: readonly string[], failed: Set<string>): string[] {
  const there = new Set(names);
  for (const name of failed) if (!there.has(name)) failed.delete(name);
  return [...names.filter((name) => !failed.has(name)), ...failed];
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
