/** One file of the image. Parent directories are made as needed. */
export type ImageFile = { readonly path: string } & (
  | { readonly kind: 'file'; readonly mode: number; readonly content: string | Uint8Array }
  | { readonly kind: 'copy'; readonly mode: number; readonly from: string }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'directory'; readonly mode: number }
);

/** Layers that change seldom come first: an update of ipledger is a pull of the last one. */
export interface ImageLayer {
  readonly name: string;
  readonly files: readonly ImageFile[];
}

export const directory = (path: string, mode = 0o755): ImageFile => ({ kind: 'directory', path, mode });
export const inline = (path: string, content: string): ImageFile => ({ kind: 'file', path, mode: 0o644, content });
export const copy = (path: string, from: string, mode = 0o644): ImageFile => ({ kind: 'copy', path, mode, from });
export const link = (path: string, to: string): ImageFile => ({ kind: 'link', path, to });

/** All entries of a layer with their parents, each once, in the order of their paths. */
export function withParents(files: readonly ImageFile[]): ImageFile[] {
  const byPath = new Map<string, ImageFile>();
  for (const { path } of files) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join('/');
      byPath.set(parent, directory(parent));
    }
  }
  for (const file of files) {
    const found = byPath.get(file.path);
    if (found !== undefined && !(found.kind === 'directory' && file.kind === 'directory')) {
      throw new Error(`two files of the image have the path ${file.path}`);
    }
    byPath.set(file.path, file);
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
