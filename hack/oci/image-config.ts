import type { Architecture } from './architecture.ts';

export interface ImageVersion {
  readonly version: string;
  readonly revision: string;
  /** The time of the commit, RFC 3339. */
  readonly created: string;
}

/** Labels that do not depend on the version; the Dockerfile has the same ones. */
export const LABELS = {
  'org.opencontainers.image.title': 'ipledger',
  'org.opencontainers.image.description':
    'IP address manager for Kubernetes underlay networks: agent, controller, ipledgerctl and CNI plugin',
  'org.opencontainers.image.licenses': 'Apache-2.0',
} as const;

/** As in the Dockerfile. Without a right user: the agent of a cluster asks for root, everything else needs no rights. */
export const RUN = {
  User: '65532:65532',
  Env: ['PATH=/usr/local/bin'],
  Entrypoint: ['ipledger-agent'],
  WorkingDir: '/',
} as const;

export const labelsOf = ({ version, revision, created }: ImageVersion): Record<string, string> => ({
  ...LABELS,
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.revision': revision,
  'org.opencontainers.image.created': created,
});

/** The image configuration of OCI. `diffs` are the digests of the layers before compression. */
export function imageConfig(architecture: Architecture, version: ImageVersion, diffs: readonly string[]): object {
  return {
    architecture,
    os: 'linux',
    ...(architecture === 'arm64' ? { variant: 'v8' } : {}),
    created: version.created,
    config: { ...RUN, Labels: labelsOf(version) },
    rootfs: { type: 'layers', diff_ids: diffs },
    history: diffs.map(() => ({ created: version.created, created_by: 'hack/image' })),
  };
}
