import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface ApiBinaries {
  readonly etcd: string;
  readonly kubeApiServer: string;
  readonly kubectl: string;
}

const ROOT = join(import.meta.dirname, '../..');

/** Never builds, because a test that waits ten minutes for a compiler seems to hang. */
export async function findApiBinaries(): Promise<ApiBinaries> {
  try {
    const { stdout } = await promisify(execFile)(join(ROOT, 'hack/kube-assets'), ['--no-build']);
    const dir = stdout.trimEnd().split('\n').at(-1) ?? '';
    return { etcd: join(dir, 'etcd'), kubeApiServer: join(dir, 'kube-apiserver'), kubectl: join(dir, 'kubectl') };
  } catch (cause) {
    throw new Error(`no kube-apiserver and etcd to test against; provide them with: (cd ${ROOT} && hack/kube-assets)`, {
      cause,
    });
  }
}
