import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ServerPlace } from './api-server.ts';
import { kubectl, waitUntilServed } from './manifests.ts';

export interface StubKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Cluster' | 'Namespaced';
}

/** Serves kinds of others without their schema: every field is accepted. */
export async function serveStubKinds(server: ServerPlace, kinds: readonly StubKind[]): Promise<void> {
  const file = join(server.dir, `${kinds.map(({ plural }) => plural).join('-')}.yaml`);
  await writeFile(file, kinds.map((kind) => stringify(toCrd(kind))).join('---\n'));
  await kubectl(server, ['apply', `--filename=${file}`]);
  for (const { group, version, plural } of kinds) await waitUntilServed(server, `/apis/${group}/${version}/${plural}`);
}

function toCrd({ group, version, kind, plural, scope }: StubKind): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope,
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
