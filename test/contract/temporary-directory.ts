import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeTemporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'ipledger-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
