import { join } from 'node:path';
import type { Logger } from 'pino';
import { haveSameContent, installPlugin } from './install-plugin.ts';

/** The name by which network configurations of Spiderpool call it. */
const SPIDERPOOL = 'spiderpool';

export interface InstallPlan {
  readonly from: string;
  readonly directory: string;
  /** `if-absent`: an upstream plugin that is there stays; one of ours is kept up to date. */
  readonly asSpiderpool: 'always' | 'if-absent' | 'never';
}

/** Ours comes last: after a crash in between, the next run still sees by it that the other one is ours as well. */
export async function installInto({ from, directory, asSpiderpool }: InstallPlan, log: Logger): Promise<void> {
  const ours = join(directory, 'ipledger');
  const theirs = join(directory, SPIDERPOOL);
  if (asSpiderpool !== 'never') {
    const onlyIfAbsent = asSpiderpool === 'if-absent' && !(await haveSameContent(ours, theirs));
    log.info({ to: theirs, outcome: await installPlugin({ from, to: theirs, onlyIfAbsent }) }, 'plugin');
  }
  log.info({ to: ours, outcome: await installPlugin({ from, to: ours }) }, 'plugin');
}
