import type { Architecture } from './architecture.ts';
import type { ImageVersion } from './image-config.ts';
import type { DebianPin, NpmPin } from './pins.ts';

export interface CratePin {
  readonly name: string;
  readonly version: string;
  readonly checksum: string;
}

export interface ImageParts {
  readonly architecture: Architecture;
  readonly debian: readonly DebianPin[];
  readonly npm: readonly NpmPin[];
  readonly crates: readonly CratePin[];
}

interface Part {
  readonly name: string;
  readonly versionInfo: string;
  readonly licenseDeclared: string;
  readonly checksum: { readonly algorithm: string; readonly checksumValue: string };
  readonly url: string;
}

/** Everything that is in the image and was not written here, as an SPDX 2.3 document. */
export function sbom({ version, created, revision }: ImageVersion, parts: ImageParts): string {
  const packages = [
    ...parts.debian.map((it) => debianPart(it, parts.architecture)),
    ...parts.npm.map(npmPart),
    ...parts.crates.map(cratePart),
  ];
  const root = 'SPDXRef-ipledger';
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `ipledger-${version}-${parts.architecture}`,
    documentNamespace: `https://ipledger.io/spdx/${version}/${revision}/${parts.architecture}`,
    creationInfo: { created, creators: ['Tool: hack/image'] },
    packages: [
      {
        SPDXID: root,
        name: 'ipledger',
        versionInfo: version,
        downloadLocation: 'NOASSERTION',
        filesAnalyzed: false,
        licenseDeclared: 'Apache-2.0',
      },
      ...packages.map((part, at) => ({
        SPDXID: idOf(at),
        name: part.name,
        versionInfo: part.versionInfo,
        downloadLocation: 'NOASSERTION',
        filesAnalyzed: false,
        licenseDeclared: part.licenseDeclared,
        checksums: [part.checksum],
        externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: part.url }],
      })),
    ],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: root },
      ...packages.map((_, at) => ({ spdxElementId: root, relationshipType: 'CONTAINS', relatedSpdxElement: idOf(at) })),
    ],
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

const idOf = (at: number): string => `SPDXRef-Package-${at + 1}`;

const debianPart = ({ name, version, source, sha256 }: DebianPin, architecture: Architecture): Part => ({
  name,
  versionInfo: version,
  licenseDeclared: 'NOASSERTION', // in usr/share/doc
  checksum: { algorithm: 'SHA256', checksumValue: sha256 },
  url: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12&upstream=${encodeURIComponent(source)}`,
});

const npmPart = ({ name, version, integrity, license }: NpmPin): Part => ({
  name,
  versionInfo: version,
  licenseDeclared: license,
  checksum: {
    algorithm: 'SHA512',
    checksumValue: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
  },
  url: `pkg:npm/${name.replace('@', '%40')}@${version}`,
});

const cratePart = ({ name, version, checksum }: CratePin): Part => ({
  name,
  versionInfo: version,
  licenseDeclared: 'NOASSERTION',
  checksum: { algorithm: 'SHA256', checksumValue: checksum },
  url: `pkg:cargo/${name}@${version}`,
});
