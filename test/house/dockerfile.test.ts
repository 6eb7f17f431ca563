import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { LABELS, RUN } from '#hack/oci/image-config.ts';
import { imageLayers } from '#hack/oci/image-layers.ts';
import { existsInRoot, readRootFile } from './source-files.ts';

const lines = readRootFile('Dockerfile')
  .replace(/\\\n\s*/g, '')
  .split('\n');
const after = (word: string) =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
const copies = after('COPY').map((line) => line.split(/\s+/));
const fromContext = copies.filter(([first]) => !first?.startsWith('--')).flatMap((words) => words.slice(0, -1));

/** The list of files does not depend on where they come from. */
const layers = imageLayers({
  architecture: 'amd64',
  repository: '',
  debian: new Map(['libc6', 'libgcc-s1', 'libstdc++6', 'gcc-12-base'].map((name) => [name, ''])),
  node: '',
  koffi: '',
  koffiNative: '',
  agentFiles: [],
  sbom: '',
});
const paths = layers.flatMap(({ files }) => files.map(({ path }) => path));

interface Container {
  readonly command: readonly string[];
  readonly args: readonly string[];
}

function containersOf(name: string): Container[] {
  const [workload] = parseAllDocuments(readRootFile(`deploy/${name}.yaml`)).map((it) => it.toJS());
  const { initContainers = [], containers } = workload.spec.template.spec;
  return [...initContainers, ...containers];
}

test('every path that is copied from the repository exists and is allowed by .dockerignore', () => {
  const allowed = readRootFile('.dockerignore').split('\n');
  expect(fromContext.length).toBeGreaterThan(5);
  expect(fromContext.filter((path) => !existsInRoot(path))).toEqual([]);
  expect(fromContext.filter((path) => !allowed.includes(`!${path}`))).toEqual([]);
});

test('every room that ends up in a bundle is copied', () => {
  const rooms = ['agent', 'cmd', 'controller', 'ctl', 'pkg', 'plugin', 'hack'];
  expect(rooms.filter((room) => !fromContext.includes(room))).toEqual([]);
});

test('the files are those of hack/image, layer by layer, and nothing else', () => {
  expect(lines.slice(lines.indexOf('FROM scratch')).filter((line) => line.startsWith('COPY '))).toEqual(
    layers.map(({ name }) => `COPY --from=build /image/${name} /`),
  );
  expect(after('RUN')).toContain('hack/image --root /image --arch "$TARGETARCH"');
});

test('labels, user, environment and entry point are those of hack/image', () => {
  const [label = ''] = after('LABEL');
  const { version } = JSON.parse(readRootFile('package.json')) as { version: string };
  const found = Object.fromEntries([...label.matchAll(/(\S+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
  const revision = `\${REVISION}`;
  expect(found).toEqual({
    ...LABELS,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': revision,
  });
  expect(after('USER')).toEqual([RUN.User]);
  expect(after('ENV').at(-1)).toBe(RUN.Env[0]);
  expect(after('ENTRYPOINT').map((line) => JSON.parse(line))).toEqual([RUN.Entrypoint]);
});

test('what the manifests start and read is in the image', () => {
  const containers = ['agent', 'controller'].flatMap(containersOf);
  expect(containers.length).toBe(3);
  expect(containers.filter(({ command: [program] }) => !paths.includes(`usr/local/bin/${program}`))).toEqual([]);
  expect(containers.flatMap(({ args }) => args)).toContain('--from=/opt/ipledger/cni/ipledger');
  expect(paths).toContain('opt/ipledger/cni/ipledger');
});
