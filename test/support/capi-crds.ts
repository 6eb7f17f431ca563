import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { ServerPlace } from './api-server.ts';
import { kubectl, waitUntilServed } from './manifests.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = [
  'ipam.cluster.x-k8s.io_ipaddressclaims',
  'ipam.cluster.x-k8s.io_ipaddresses',
  'cluster.x-k8s.io_clusters',
];

interface Crd {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
}

/**
 * Installs the real CRDs of Cluster API and our role for it. Its core webhooks are not there: no spec is kept immutable by them, and
 * versions are converted without them, which works where the fields are the same.
 */
export async function installCapi(server: ServerPlace): Promise<void> {
  const dir = await findCapiAssets();
  const files = FILES.map((file) => join(dir, 'crds', `${file}.yaml`));
  await kubectl(server, ['apply', '--server-side', ...files.map((file) => `--filename=${file}`)]);
  await kubectl(server, ['apply', `--filename=${join(ROOT, 'deploy/rbac-cluster-api.yaml')}`]);
  for (const file of files) {
    const { spec } = parse(await readFile(file, 'utf8')) as Crd;
    await waitUntilServed(server, `/apis/${spec.group}/v1beta2/${spec.names.plural}`);
  }
}

/** Holds `crds/` and `clusterctl`. Never downloads: a test that needs the network should say so before. */
export async function findCapiAssets(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(join(ROOT, 'hack/capi-assets'), ['--no-build']);
    return stdout.trimEnd().split('\n').at(-1) ?? '';
  } catch (cause) {
    throw new Error(`Cluster API is not there to test against; provide it with: (cd ${ROOT} && hack/capi-assets)`, {
      cause,
    });
  }
}
