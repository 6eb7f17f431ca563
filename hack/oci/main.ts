import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION } from '#pkg/text/version.ts';
import { ARCHITECTURES, type Architecture, isArchitecture } from './architecture.ts';
import { type ImageVersion, imageConfig, labelsOf } from './image-config.ts';
import { type ImageFile, withParents } from './image-file.ts';
import { imageLayers } from './image-layers.ts';
import { imageSources } from './image-sources.ts';
import { packLayer } from './layer-blob.ts';
import { ociArchive, type PlatformImage } from './oci-archive.ts';
import { repin } from './repin.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
/** Limits of one architecture. Nearly all of it is Node. */
const MOST_COMPRESSED_MB = 60;
const MOST_UNPACKED_MB = 150;

const { values: flags } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: Object.keys(ARCHITECTURES) },
    output: { type: 'string', default: join(REPOSITORY, 'dist/image', `ipledger-${VERSION}.oci.tar`) },
    name: { type: 'string', default: `docker.io/library/ipledger:${VERSION}` },
    root: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    pin: { type: 'boolean', default: false },
  },
});

if (flags.pin) repin();
else await build(flags.arch.map(toArchitecture));

function toArchitecture(name: string): Architecture {
  if (isArchitecture(name)) return name;
  throw new Error(`cannot make an image for ${name}: ${Object.keys(ARCHITECTURES).join(' and ')} are known`);
}

async function build(architectures: readonly Architecture[]): Promise<void> {
  const version = versionOfCommit();
  if (flags.root !== undefined) {
    for (const architecture of architectures) await writeRoot(flags.root, architecture, version);
    return;
  }
  const images: PlatformImage[] = [];
  for (const architecture of architectures) images.push(await packImage(architecture, version));
  mkdirSync(dirname(flags.output), { recursive: true });
  writeFileSync(`${flags.output}.unfinished`, ociArchive(images, flags.name, labelsOf(version)));
  renameSync(`${flags.output}.unfinished`, flags.output);
  console.log(flags.output);
}

async function packImage(architecture: Architecture, version: ImageVersion): Promise<PlatformImage> {
  const sources = await imageSources(architecture, version);
  const layers = [];
  for (const { name, files } of imageLayers(sources)) {
    const layer = await packLayer(files, flags.fresh);
    console.log(
      `${architecture} ${name.padEnd(9)} ${inMb(layer.bytes.length)} MB compressed, ${inMb(layer.unpackedBytes)} MB unpacked`,
    );
    layers.push(layer);
  }
  const compressedMb = layers.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1e6;
  const unpackedMb = layers.reduce((sum, it) => sum + it.unpackedBytes, 0) / 1e6;
  if (compressedMb > MOST_COMPRESSED_MB || unpackedMb > MOST_UNPACKED_MB) {
    throw new Error(
      `the image for ${architecture} has ${compressedMb} MB (${unpackedMb} MB unpacked); it may have ${MOST_COMPRESSED_MB} (${MOST_UNPACKED_MB})`,
    );
  }
  const platform = { os: 'linux', architecture, ...(architecture === 'arm64' ? { variant: 'v8' } : {}) };
  return {
    platform,
    layers,
    config: imageConfig(
      architecture,
      version,
      layers.map(({ diff }) => diff),
    ),
  };
}

function inMb(bytes: number): string {
  return (bytes / 1e6).toFixed(1).padStart(6);
}

/** The layers as directories below `root`, for the Dockerfile. */
async function writeRoot(root: string, architecture: Architecture, version: ImageVersion): Promise<void> {
  for (const { name, files } of imageLayers(await imageSources(architecture, version))) {
    for (const file of withParents(files)) writeImageFile(join(root, name), file);
    console.log(join(root, name));
  }
}

function writeImageFile(root: string, file: ImageFile): void {
  const path = join(root, file.path);
  mkdirSync(dirname(path), { recursive: true });
  if (file.kind === 'link') {
    symlinkSync(file.to, path);
    return;
  }
  if (file.kind === 'directory') mkdirSync(path, { recursive: true });
  else if (file.kind === 'copy') copyFileSync(file.from, path);
  else writeFileSync(path, file.content);
  chmodSync(path, file.mode);
  if (file.kind !== 'directory') utimesSync(path, 0, 0);
}

/** From git; where there is none (a Docker build), from the environment. */
function versionOfCommit(): ImageVersion {
  const revision = process.env['REVISION'] || git('describe', '--always', '--abbrev=40', '--dirty', '--exclude=*');
  const seconds = process.env['SOURCE_DATE_EPOCH'] || git('log', '-1', '--format=%ct');
  const created = new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
  return { version: VERSION, revision, created };
}

function git(...words: string[]): string {
  return execFileSync('git', ['-C', REPOSITORY, ...words], { encoding: 'utf8' }).trim();
}
