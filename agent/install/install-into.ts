import { join } from 'node:path';
import type { Logger } from 'pino';
import { installPlugin, isOurPlugin } from './install-plugin.ts';

/** The name of the plugin in network configurations of Spiderpool. */
const SPIDERPOOL = 'spiderpool';

export interface InstallPlan {
  readonly from: string;
  readonly directory: string;
  /** `if-absent`: an upstream plugin that is there stays; one of ours is kept up to date. */
  readonly asSpiderpool: 'always' | 'if-absent' | 'never';
}

export async function installInto({ from, directory, asSpiderpool }: InstallPlan, log: Logger): Promise<void> {
  const ours = join(directory, 'ipledger');
  log.info({ to: ours, outcome: await installPlugin({ from, to: ours }) }, 'plugin');
  if (asSpiderpool === 'never') return;
  const theirs = join(directory, SPIDERPOOL);
  const onlyIfAbsent = asSpiderpool === 'if-absent' && !(await isOurPlugin(theirs));
  log.info({ to: theirs, outcome: await installPlugin({ from, to: theirs, onlyIfAbsent }) }, 'plugin');
}
