import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ARCHITECTURES, type Architecture } from './architecture.ts';
import type { ImageVersion } from './image-config.ts';
import type { ImageSources } from './image-layers.ts';
import { lockedPackage, nodePin, readPins } from './pins.ts';
import { type CratePin, sbom } from './sbom.ts';
import { debianPackage, npmPackage } from './store.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

/** Fetches what the registries give, and says in the SBOM what it was. */
export async function imageSources(architecture: Architecture, version: ImageVersion): Promise<ImageSources> {
  const node = nodePin(architecture);
  const koffi = lockedPackage('node_modules/koffi');
  const koffiNative = lockedPackage(`node_modules/@koromix/koffi-linux-${ARCHITECTURES[architecture].npm}`);
  const debian = readPins().debian[architecture];
  const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'dist/bundled.json'), 'utf8')) as {
    packages: string[];
  };
  const npm = [node, koffi, koffiNative, ...packages.map(lockedPackage)];
  const places = new Map<string, string>();
  for (const pin of debian) places.set(pin.name, await debianPackage(pin));
  return {
    architecture,
    debian: places,
    node: await npmPackage(node),
    koffi: await npmPackage(koffi),
    koffiNative: await npmPackage(koffiNative),
    repository: REPOSITORY,
    agentFiles: readdirSync(join(REPOSITORY, 'dist/agent')),
    sbom: sbom(version, { architecture, debian, npm, crates: crates() }),
  };
}

/** The plugin contains these, and QuickJS inside rquickjs. */
function crates(): CratePin[] {
  const lock = readFileSync(join(REPOSITORY, 'plugin/host/Cargo.lock'), 'utf8');
  const found = lock.matchAll(/^name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"/gm);
  return [...found].map(([, name = '', version = '', checksum = '']) => ({ name, version, checksum }));
}
