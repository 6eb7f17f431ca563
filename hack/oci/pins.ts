import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ARCHITECTURES, type Architecture } from './architecture.ts';

/** A package of Debian for one processor. The path is that below the root of a mirror. */
export interface DebianPin {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly path: string;
  readonly sha256: string;
}

export interface NpmPin {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly license: string;
}

interface Pins {
  readonly node: { readonly version: string; readonly integrity: Readonly<Record<Architecture, string>> };
  readonly debian: Readonly<Record<Architecture, readonly DebianPin[]>>;
}

interface NpmLock {
  readonly packages: Readonly<Record<string, { version: string; integrity?: string; license?: string }>>;
}

const ROOT = join(import.meta.dirname, '../..');
const PINS = join(import.meta.dirname, 'pins.json');

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

export const readPins = (): Pins => readJson<Pins>(PINS);
export const writePins = (pins: Pins): void => writeFileSync(PINS, `${JSON.stringify(pins, null, 2)}\n`);

export function nodePin(architecture: Architecture): NpmPin {
  const { version, integrity } = readPins().node;
  return {
    name: `node-linux-${ARCHITECTURES[architecture].npm}`,
    version,
    integrity: integrity[architecture],
    license: 'MIT',
  };
}

/** What package-lock.json says about one package; `place` is its key, e.g. node_modules/koffi. */
export function lockedPackage(place: string): NpmPin {
  const found = readJson<NpmLock>(join(ROOT, 'package-lock.json')).packages[place];
  if (found?.integrity === undefined) throw new Error(`package-lock.json has no ${place}`);
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return { name, version: found.version, integrity: found.integrity, license: found.license ?? 'NOASSERTION' };
}
