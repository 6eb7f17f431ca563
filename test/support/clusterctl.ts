import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { VERSION } from '#pkg/text/version.ts';
import type { ServerPlace } from './api-server.ts';
import { findCapiAssets } from './capi-crds.ts';
import { type StubKind, serveStubKinds } from './stub-kind.ts';

const PACKAGE = join(import.meta.dirname, '../../deploy/cluster-api');
const RUN_LIMIT_MS = 200_000;
/** clusterctl believes that cert-manager is here once it can make an Issuer and a Certificate. */
const CERT_MANAGER: readonly StubKind[] = [
  { group: 'cert-manager.io', version: 'v1', kind: 'Issuer', plural: 'issuers', scope: 'Namespaced' },
  { group: 'cert-manager.io', version: 'v1', kind: 'Certificate', plural: 'certificates', scope: 'Namespaced' },
];

/** The real clusterctl, with releases of Cluster API and of ipledger as folders on disk. */
export interface Clusterctl extends AsyncDisposable {
  /** Installs core and ipledger by `clusterctl init`. */
  init(server: ServerPlace): Promise<string>;
  move(from: ServerPlace, to: ServerPlace, namespace: string): Promise<string>;
}

export async function openClusterctl(): Promise<Clusterctl> {
  const assets = await findCapiAssets();
  const [, core = ''] = /\/(v[^/]+)$/.exec(assets) ?? [];
  const dir = await mkdtemp(join(tmpdir(), 'ipledger-clusterctl-'));
  const releases = [
    { name: 'cluster-api', type: 'CoreProvider', release: `cluster-api/${core}`, file: 'core-components.yaml' },
    { name: 'ipledger', type: 'IPAMProvider', release: `ipam-ipledger/v${VERSION}`, file: 'ipam-components.yaml' },
  ];
  for (const { release } of releases) await mkdir(join(dir, release), { recursive: true });
  await cp(PACKAGE, join(dir, `ipam-ipledger/v${VERSION}`), { recursive: true });
  await writeCore(join(dir, `cluster-api/${core}`), join(assets, 'crds'), core);
  const config = join(dir, 'clusterctl.yaml');
  const providers = releases.map(({ name, type, release, file }) => ({
    name,
    type,
    url: `file://${join(dir, release, file)}`,
  }));
  await writeFile(config, stringify({ providers }));
  const run = async (args: readonly string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: dir, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' };
    const all = [...args, `--config=${config}`];
    const { stderr } = await promisify(execFile)(join(assets, 'clusterctl'), all, { env, timeout: RUN_LIMIT_MS });
    return stderr;
  };
  return {
    init: async (server) => {
      await serveStubKinds(server, CERT_MANAGER);
      const providersWanted = ['--core=cluster-api', '--bootstrap=-', '--control-plane=-', '--ipam=ipledger'];
      return run(['init', `--kubeconfig=${server.kubeconfigFile}`, ...providersWanted]);
    },
    move: (from, to, namespace) =>
      run([
        'move',
        `--kubeconfig=${from.kubeconfigFile}`,
        `--to-kubeconfig=${to.kubeconfigFile}`,
        `--namespace=${namespace}`,
      ]),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** The CRDs alone: nothing runs here that its Deployments could start. */
async function writeCore(release: string, crds: string, version: string): Promise<void> {
  const namespace = stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capi-system' } });
  const files = await Promise.all((await readdir(crds)).sort().map((name) => readFile(join(crds, name), 'utf8')));
  await writeFile(join(release, 'core-components.yaml'), [namespace, ...files].join('\n---\n'));
  const [major, minor] = version.slice(1).split('.').map(Number);
  const metadata = {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: 'v1beta2' }],
  };
  await writeFile(join(release, 'metadata.yaml'), stringify(metadata));
}
