import { toIpamError } from '#pkg/errors/ipam-error.ts';

export interface GatheredFile {
  readonly path: string;
  readonly text: string;
}

/** A file of the archive before it is read. */
export interface Piece {
  readonly path: string;
  read(): Promise<string>;
}

export interface Gathered {
  readonly files: readonly GatheredFile[];
  /** What could not be read, and why. */
  readonly missing: readonly string[];
}

/** Reads one after the other, so that the API server is not pressed. What cannot be read is named and left out. */
export async function gather(pieces: readonly Piece[], onRead: (path: string) => void): Promise<Gathered> {
  const files: GatheredFile[] = [];
  const missing: string[] = [];
  for (const piece of pieces) {
    try {
      files.push({ path: piece.path, text: await piece.read() });
      onRead(piece.path);
    } catch (thrown) {
      missing.push(`${piece.path}: ${toIpamError(thrown).message}`);
    }
  }
  return { files, missing };
}

export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}
