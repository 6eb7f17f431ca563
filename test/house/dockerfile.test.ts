import { expect, test } from 'vitest';
import { OUTPUTS } from '../../hack/bundle.ts';
import { existsInRoot, readRootFile } from './source-files.ts';

interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
}

const lines = readRootFile('Dockerfile').split('\n');
const copies: Copy[] = lines
  .filter((line) => line.startsWith('COPY '))
  .map((line) => {
    const words = line.split(/\s+/).slice(1);
    const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
    return { from, sources: words.filter((word) => !word.startsWith('--')).slice(0, -1) };
  });
const fromContext = copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
const fromBuild = copies.filter(({ from }) => from === 'build').flatMap(({ sources }) => sources);

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

test('the image contains only files of the build and installed packages', () => {
  expect(fromBuild.length).toBeGreaterThan(5);
  const unknown = fromBuild.filter((path) => {
    const inSource = path.replace('/src/', '');
    if (inSource === 'dist/native/ipledger') return !readRootFile('hack/build-plugin').includes(inSource);
    const built = inSource.slice('dist/'.length);
    if (inSource.startsWith('dist/')) return !OUTPUTS.some((it) => it === built || it.startsWith(`${built}/`));
    return !existsInRoot(inSource);
  });
  expect(unknown).toEqual([]);
});

test('every program that a manifest starts is in the image and on its PATH', () => {
  const commands = ['agent', 'controller'].flatMap((name) => {
    const found = [...readRootFile(`deploy/${name}.yaml`).matchAll(/command: \[([a-z-]+)/g)].map(([, word]) => word);
    expect(found.length).toBeGreaterThan(0);
    return found;
  });
  const linked = lines.find((line) => line.startsWith('RUN ln -s')) ?? '';
  expect(commands.filter((name) => !fromBuild.includes(`/src/dist/${name}`))).toEqual([]);
  expect(commands.filter((name) => !linked.includes(`/opt/ipledger/${name} `))).toEqual([]);
});

test('the paths in the manifest of the agent exist in the image', () => {
  const manifest = readRootFile('deploy/agent.yaml');
  expect(manifest).toContain('--from=/opt/ipledger/cni/ipledger');
  expect(lines).toContain('COPY --from=build /src/dist/native/ipledger cni/ipledger');
  expect(lines).toContain('WORKDIR /opt/ipledger');
});
