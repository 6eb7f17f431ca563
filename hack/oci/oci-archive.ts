import { type TarEntry, tar } from '#pkg/tar/tar.ts';
import { sha256 } from './store.ts';

export interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Buffer;
}

interface Described extends Blob {
  readonly platform?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const INDEX = 'application/vnd.oci.image.index.v1+json';

const toBytes = (value: object): Buffer => Buffer.from(JSON.stringify(value));
export const blob = (mediaType: string, bytes: Buffer): Blob => ({
  mediaType,
  bytes,
  digest: `sha256:${sha256(bytes)}`,
});

const describe = ({ mediaType, digest, bytes, platform, annotations }: Described) => ({
  mediaType,
  digest,
  size: bytes.length,
  ...(platform === undefined ? {} : { platform }),
  ...(annotations === undefined ? {} : { annotations }),
});

export interface PlatformImage {
  readonly platform: object;
  readonly config: object;
  readonly layers: readonly Blob[];
}

/** An OCI image layout in one archive: an index over the images of all platforms, under one name. */
export function ociArchive(
  images: readonly PlatformImage[],
  name: string,
  annotations: Readonly<Record<string, string>>,
): Buffer {
  const blobs: Blob[] = [];
  const keep = <T extends Blob>(it: T): T => {
    blobs.push(it);
    return it;
  };
  const manifests = images.map(({ platform, config, layers }) => {
    const manifest = keep(
      blob(
        MANIFEST,
        toBytes({
          schemaVersion: 2,
          mediaType: MANIFEST,
          config: describe(keep(blob(CONFIG, toBytes(config)))),
          layers: layers.map((it) => describe(keep(it))),
          annotations,
        }),
      ),
    );
    return describe({ ...manifest, platform });
  });
  const index = keep(blob(INDEX, toBytes({ schemaVersion: 2, mediaType: INDEX, manifests, annotations })));
  // containerd takes the name from the first annotation, the other tools take the tag from the second one.
  const names = {
    'io.containerd.image.name': name,
    'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
  };
  const layout = { schemaVersion: 2, mediaType: INDEX, manifests: [describe({ ...index, annotations: names })] };
  return tar(layoutFiles(blobs, layout));
}

function layoutFiles(blobs: readonly Blob[], layout: object): TarEntry[] {
  const file = (path: string, content: Uint8Array): TarEntry => ({ path, mode: 0o644, type: 'file', content });
  const byDigest = new Map(blobs.map(({ digest, bytes }) => [digest.replace(':', '/'), bytes]));
  return [
    file('oci-layout', toBytes({ imageLayoutVersion: '1.0.0' })),
    file('index.json', toBytes(layout)),
    { path: 'blobs', mode: 0o755, type: 'directory' },
    { path: 'blobs/sha256', mode: 0o755, type: 'directory' },
    ...[...byDigest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, bytes]) => file(`blobs/${path}`, bytes)),
  ];
}
