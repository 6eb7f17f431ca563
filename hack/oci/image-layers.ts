import { join } from 'node:path';
import { ARCHITECTURES, type Architecture, OWN_ARCHITECTURE } from './architecture.ts';
import { copy, directory, type ImageFile, type ImageLayer, inline, link } from './image-file.ts';

/** Where the parts of the image are on the machine that builds it. */
export interface ImageSources {
  readonly architecture: Architecture;
  /** The unpacked packages of Debian, by name; each has `root` and `control`. */
  readonly debian: ReadonlyMap<string, string>;
  readonly node: string;
  readonly koffi: string;
  readonly koffiNative: string;
  /** The repository, with what hack/build left in dist/. */
  readonly repository: string;
  /** The chunks of the agent's bundle. */
  readonly agentFiles: readonly string[];
  readonly sbom: string;
}

const HOME = 'opt/ipledger';
/** What the programs on the PATH are; the launcher looks at the name by which it was started. */
const PROGRAMS = { 'ipledger-agent': 'launch.js', 'ipledger-controller': 'launch.js', ipledgerctl: 'ctl.js' };

/** THE list of what is in the image; hack/image and the Dockerfile both take it from here. */
export function imageLayers(sources: ImageSources): ImageLayer[] {
  return [
    { name: 'libraries', files: [...SYSTEM, ...libraries(sources)] },
    { name: 'node', files: nodeFiles(sources) },
    { name: 'ipledger', files: programs(sources) },
  ];
}

/** What the C library asks for: users by name, and /etc/hosts before DNS. Scanners read the name of the distribution. */
const SYSTEM: readonly ImageFile[] = [
  inline(
    'etc/passwd',
    'root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  ),
  inline('etc/group', 'root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n'),
  inline('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
  inline('etc/os-release', 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="ipledger, on libraries of Debian 12"\n'),
  directory('tmp', 0o1777),
];

function libraries({ architecture, debian }: ImageSources): ImageFile[] {
  const { libraries: folder, loader } = ARCHITECTURES[architecture];
  const from = (name: string, path: string) => join(packageOf(debian, name), 'root', path);
  const library = (name: string, path: string, mode?: number) => copy(path, from(name, path), mode);
  const program = loader.slice(loader.indexOf('/') + 1);
  return [
    library('libc6', `lib/${folder}/${program}`, 0o755),
    link(loader, `/lib/${folder}/${program}`),
    ...['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'].map((it) => library('libc6', `lib/${folder}/${it}`)),
    library('libgcc-s1', `lib/${folder}/libgcc_s.so.1`),
    library('libstdc++6', `usr/lib/${folder}/libstdc++.so.6`),
    library('libc6', 'usr/share/doc/libc6/copyright'),
    library('gcc-12-base', 'usr/share/doc/gcc-12-base/copyright'),
    ...['libgcc-s1', 'libstdc++6'].map((name) => link(`usr/share/doc/${name}`, 'gcc-12-base')),
    // Not a package manager: scanners learn from it which versions of the libraries are there.
    ...[...debian].map(([name, place]) => copy(`var/lib/dpkg/status.d/${name}`, join(place, 'control'))),
  ];
}

function packageOf(debian: ReadonlyMap<string, string>, name: string): string {
  const place = debian.get(name);
  if (place === undefined) throw new Error(`pins.json lacks the Debian package ${name}`);
  return place;
}

const nodeFiles = ({ node }: ImageSources): ImageFile[] => [
  copy(`${HOME}/node`, join(node, 'bin/node'), 0o755),
  copy('usr/share/doc/node/LICENSE', join(node, 'LICENSE')),
];

function programs({ architecture, koffi, koffiNative, repository, agentFiles, sbom }: ImageSources): ImageFile[] {
  const built = (path: string) => join(repository, 'dist', path);
  const plugin = architecture === OWN_ARCHITECTURE ? 'native/ipledger' : `native-${architecture}/ipledger`;
  const { npm } = ARCHITECTURES[architecture];
  return [
    ...agentFiles.map((name) => copy(`${HOME}/agent/${name}`, built(`agent/${name}`))),
    copy(`${HOME}/controller.js`, built('controller.js')),
    ...['launch.js', 'ctl.js'].map((name) => copy(`${HOME}/${name}`, built(name), 0o755)),
    copy(`${HOME}/cni/ipledger`, built(plugin), 0o755),
    // It makes the bundles modules.
    copy(`${HOME}/package.json`, join(repository, 'package.json')),
    ...['package.json', 'index.js', 'src/koffi/index.js', 'src/koffi/src/static.js', 'LICENSE.txt'].map((name) =>
      copy(`${HOME}/node_modules/koffi/${name}`, join(koffi, name)),
    ),
    ...['package.json', 'index.js', `linux_${npm}/koffi.node`].map((name) =>
      copy(`${HOME}/node_modules/@koromix/koffi-linux-${npm}/${name}`, join(koffiNative, name)),
    ),
    ...Object.entries(PROGRAMS).map(([name, program]) => link(`usr/local/bin/${name}`, `/${HOME}/${program}`)),
    copy('usr/share/doc/ipledger/LICENSE', join(repository, 'LICENSE')),
    inline('usr/share/doc/ipledger/sbom.spdx.json', sbom),
  ];
}
