import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun } from '#test/support/run-program.ts';

export interface ImagePlan {
  /** With its registry and tag, as manifests name it; without a registry it is Docker Hub's. */
  readonly name: string;
  /** Everything below becomes the only layer. */
  readonly root: string;
  readonly entrypoint: readonly string[];
}

/** An image of one layer that `ctr images import` reads. */
export async function writeOciArchive({ name, root, entrypoint }: ImagePlan, file: string): Promise<void> {
  const layout = await mkdtemp(join(tmpdir(), 'ipl-oci-'));
  try {
    await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
    const layerFile = join(layout, 'layer.tar');
    await mustRun(
      'tar',
      '--create',
      `--file=${layerFile}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      `--directory=${root}`,
      '.',
    );
    const layer = await addBlob(layout, await readFile(layerFile), 'application/vnd.oci.image.layer.v1.tar');
    await rm(layerFile);
    const config = await addJson(layout, 'application/vnd.oci.image.config.v1+json', {
      architecture: 'amd64',
      os: 'linux',
      config: { Entrypoint: entrypoint, Env: ['PATH=/usr/local/bin:/usr/bin:/bin'] },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    });
    const manifest = await addJson(layout, 'application/vnd.oci.image.manifest.v1+json', {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config,
      layers: [layer],
    });
    const annotations = { 'io.containerd.image.name': name };
    await writeFile(
      join(layout, 'index.json'),
      JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
    );
    await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await mustRun('tar', '--create', `--file=${file}`, `--directory=${layout}`, 'oci-layout', 'index.json', 'blobs');
  } finally {
    await rm(layout, { recursive: true, force: true });
  }
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

async function addBlob(layout: string, content: Buffer, mediaType: string): Promise<Descriptor> {
  const hash = createHash('sha256').update(content).digest('hex');
  await writeFile(join(layout, 'blobs/sha256', hash), content);
  return { mediaType, digest: `sha256:${hash}`, size: content.length };
}

function addJson(layout: string, mediaType: string, value: object): Promise<Descriptor> {
  return addBlob(layout, Buffer.from(JSON.stringify(value)), mediaType);
}
