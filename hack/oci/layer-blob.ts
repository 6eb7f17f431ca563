import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tar } from '#pkg/tar/tar.ts';
import { type ImageFile, withParents } from './image-file.ts';
import { type Blob, blob, LAYER } from './oci-archive.ts';
import { cached, sha256 } from './store.ts';

export interface PackedLayer extends Blob {
  /** The digest before compression. */
  readonly diff: string;
  readonly unpackedBytes: number;
}

/** Compressing Node takes most of the time of a build, so compressed layers are kept by their content. */
export async function packLayer(files: readonly ImageFile[], isFresh: boolean): Promise<PackedLayer> {
  const entries = withParents(files).map(toEntry);
  const archive = tar(entries);
  const digest = sha256(archive);
  const compressed = isFresh ? compress(archive) : await keptOrCompressed(archive, digest);
  const unpackedBytes = entries.reduce((sum, it) => sum + (it.type === 'file' ? it.content.length : 0), 0);
  return { ...blob(LAYER, compressed), diff: `sha256:${digest}`, unpackedBytes };
}

async function keptOrCompressed(archive: Buffer, digest: string): Promise<Buffer> {
  const place = await cached(`layer-${process.versions.zlib}-${digest}`, (directory) =>
    writeFileSync(join(directory, 'layer.tar.gz'), compress(archive)),
  );
  return readFileSync(join(place, 'layer.tar.gz'));
}

/** Without a time, and without the name of the system in the header. */
function compress(archive: Buffer): Buffer {
  const compressed = gzipSync(archive, { level: 9 });
  compressed[9] = 255;
  return compressed;
}

function toEntry(file: ImageFile): TarEntry {
  const { path } = file;
  switch (file.kind) {
    case 'directory':
      return { path, mode: file.mode, type: 'directory' };
    case 'link':
      return { path, mode: 0o777, type: 'link', to: file.to };
    case 'file':
      return { path, mode: file.mode, type: 'file', content: Buffer.from(file.content) };
    case 'copy':
      return { path, mode: file.mode, type: 'file', content: readFileSync(file.from) };
  }
}
