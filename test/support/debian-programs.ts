import { join } from 'node:path';
import { mustRun } from './run-program.ts';

const SCRIPT = join(import.meta.dirname, '../../hack/debian-assets');

/** The directory of prometheus, promtool and containerd 1. Never fetches, because tests need no network. */
export async function findDebianPrograms(): Promise<string> {
  return (await mustRun(SCRIPT, '--no-build')).trim();
}
