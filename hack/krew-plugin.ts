import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { ARCHITECTURES, type Architecture, isArchitecture } from '#hack/oci/architecture.ts';
import { copy, type ImageFile } from '#hack/oci/image-file.ts';
import { packLayer } from '#hack/oci/layer-blob.ts';
import { nodePin } from '#hack/oci/pins.ts';
import { npmPackage, sha256 } from '#hack/oci/store.ts';
import { VERSION } from '#pkg/text/version.ts';

const ROOT = join(import.meta.dirname, '..');
const BIN = 'kubectl-ipledger';

/** krew links to it from its directory of programs. kubectl's own default is used where no cluster is named. */
const LAUNCHER = `#!/bin/sh
set -e
dir=$(dirname -- "$(readlink -f -- "$0")")
unset NODE_OPTIONS
[ -n "$KUBECONFIG" ] || [ -n "$IPLEDGER_SOCKET" ] || [ ! -f "$HOME/.kube/config" ] || export KUBECONFIG="$HOME/.kube/config"
exec "$dir/node" "$dir/ctl.js" "$@"
`;

const { values: flags } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: Object.keys(ARCHITECTURES) },
    from: { type: 'string' },
    output: { type: 'string', default: join(ROOT, 'dist/krew') },
  },
});

const from = flags.from?.replace(/\/$/, '') ?? `file://${resolve(flags.output)}`;
mkdirSync(flags.output, { recursive: true });
const platforms = [];
for (const architecture of flags.arch.map(toArchitecture)) platforms.push(await writeArchive(architecture));
const manifest = join(flags.output, 'ipledger.yaml');
writeFileSync(manifest, stringify(pluginOf(platforms)));
console.log(manifest);

function toArchitecture(name: string): Architecture {
  if (isArchitecture(name)) return name;
  throw new Error(`cannot pack for ${name}: ${Object.keys(ARCHITECTURES).join(' and ')} are known`);
}

/** The same commit gives the same bytes, as the layers of the image. */
async function writeArchive(architecture: Architecture): Promise<object> {
  const node = await npmPackage(nodePin(architecture));
  const files: readonly ImageFile[] = [
    { kind: 'file', path: BIN, mode: 0o755, content: LAUNCHER },
    copy('ctl.js', join(ROOT, 'dist/ctl.js')),
    copy('node', join(node, 'bin/node'), 0o755),
    // It makes the bundle a module.
    copy('package.json', join(ROOT, 'package.json')),
    copy('LICENSE', join(ROOT, 'LICENSE')),
    copy('LICENSE.node', join(node, 'LICENSE')),
  ];
  const name = `ipledger-linux-${architecture}.tar.gz`;
  const { bytes } = await packLayer(files, false);
  writeFileSync(join(flags.output, name), bytes);
  return {
    selector: { matchLabels: { os: 'linux', arch: architecture } },
    uri: `${from}/${name}`,
    sha256: sha256(bytes),
    bin: BIN,
    files: files.map(({ path }) => ({ from: path, to: '.' })),
  };
}

function pluginOf(packed: readonly object[]): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'ipledger' },
    spec: {
      version: `v${VERSION}`,
      shortDescription: 'Who holds an IP address of the underlay, and why',
      description:
        'Asks the ledger of ipledger: which pod or machine holds an address, which pools are short, what leaks, and why a pod gets no address.',
      platforms: packed,
    },
  };
}
