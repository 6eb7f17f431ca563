import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApiBinaries, findApiBinaries } from '#test/support/api-binaries.ts';

export interface ClusterPrograms extends ApiBinaries {
  /** kubelet, containerd, the CNI plugins and the other programs of hack/node-assets. */
  readonly dir: string;
}

const ROOT = join(import.meta.dirname, '../..');

/** Never builds, because a test that waits ten minutes for a compiler seems to hang. */
export async function findClusterPrograms(): Promise<ClusterPrograms> {
  const api = await findApiBinaries();
  try {
    const { stdout } = await promisify(execFile)(join(ROOT, 'hack/node-assets'), ['--no-build']);
    return { ...api, dir: stdout.trimEnd().split('\n').at(-1) ?? '' };
  } catch (cause) {
    throw new Error(`no kubelet and containerd to test with; provide them with: (cd ${ROOT} && hack/node-assets)`, {
      cause,
    });
  }
}
