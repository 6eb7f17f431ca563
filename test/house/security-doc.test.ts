import { expect, test } from 'vitest';
import { readRootFile } from './source-files.ts';

test('every test that the page about tenants names exists', () => {
  const rows = [...readRootFile('docs/security.md').matchAll(/\| `(tenant-[\w-]+\.test\.ts)`: (.+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(8);
  for (const [, file = '', name = ''] of rows) {
    expect(readRootFile(`test/integration/${file}`)).toContain(name);
  }
});
