import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderManifests } from './chart-manifests.ts';
import { clusterApiPackage } from './cluster-api-package.ts';
import { generatedFiles } from './generated-files.ts';
import { valuesSchema } from './values-schema.ts';

const ROOT = join(import.meta.dirname, '..');
const [helm = ''] = process.argv.slice(2);

write(generatedFiles());
// Before the manifests: helm checks its values with it.
write([valuesSchema()]);
write(renderManifests(helm));
// Made from the files of deploy/, the CRDs among them.
write(clusterApiPackage());

function write(files: readonly { readonly path: string; readonly text: string }[]): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    console.log(`wrote ${path}`);
  }
}
