import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const PLACES = '{agent,cmd,controller,ctl,hack,pkg,plugin,test}';

export interface SourceFile {
  /** From the root, e.g. `pkg/ip/address.ts`. */
  readonly path: string;
  readonly text: string;
}

export function readSourceFiles(): SourceFile[] {
  const paths = globSync(`${PLACES}/**/*.ts`, { cwd: ROOT, exclude: ['**/node_modules/**', '**/target/**'] });
  return paths.sort().map((path) => ({ path, text: readRootFile(path) }));
}

export function readRootFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function existsInRoot(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** The rooms of the README's map: two levels deep where the first one only groups (`pkg/ip`), else one level (`agent`). */
export function listAreas(): string[] {
  const files = globSync('*/**/*', { cwd: ROOT, exclude: ['node_modules/**', 'dist/**'], withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
  const areaOf = (path: string) => {
    const [first = '', second = ''] = path.split('/');
    return GROUPS.includes(first) ? `${first}/${second}` : first;
  };
  return [...new Set(files.map(areaOf))].sort();
}

const GROUPS = ['pkg', 'cmd', 'test'];

/** A room is a folder. Of a folder in test/ the first two levels are the room. */
export function roomOf(path: string): string {
  const parts = path.split('/').slice(0, -1);
  return (parts[0] === 'test' ? parts.slice(0, 2) : parts).join('/');
}
