const BLOCK = 512;
/** Readers expect an archive that is a multiple of twenty blocks. */
const RECORD = 20 * BLOCK;
const LONGEST_NAME = 100;

export type TarEntry = { readonly path: string; readonly mode: number } & (
  | { readonly type: 'file'; readonly content: Uint8Array }
  | { readonly type: 'link'; readonly to: string }
  | { readonly type: 'directory' }
);

const FLAGS = { file: '0', link: '2', directory: '5' } as const;
const EPOCH = new Date(0);

/** A POSIX archive that depends on nothing but its arguments: owner 0, the order as given. */
export function tar(entries: readonly TarEntry[], at = EPOCH): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = entry.type === 'file' ? entry.content : new Uint8Array();
    return [header(entry, content.length, at), content, Buffer.alloc(padding(content.length, BLOCK))];
  });
  const size = parts.reduce((sum, { length }) => sum + length, 0) + 2 * BLOCK;
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK + padding(size, RECORD))]);
}

const padding = (size: number, unit: number): number => (unit - (size % unit)) % unit;
const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

function header(entry: TarEntry, size: number, at: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  const write = (value: string, offset: number, longest: number): void => {
    if (Buffer.byteLength(value) > longest) throw new Error(`${entry.path}: too long for a tar archive: ${value}`);
    block.write(value, offset);
  };
  const { folder, name } = splitPath(entry.type === 'directory' ? `${entry.path}/` : entry.path);
  write(name, 0, LONGEST_NAME);
  write(folder, 345, 155);
  write(octal(entry.mode, 7), 100, 8);
  write(octal(0, 7), 108, 8); // user
  write(octal(0, 7), 116, 8); // group
  write(octal(size, 11), 124, 12);
  write(octal(Math.floor(at.getTime() / 1_000), 11), 136, 12);
  write(' '.repeat(8), 148, 8); // counts as spaces in its own sum
  write(FLAGS[entry.type], 156, 1);
  if (entry.type === 'link') write(entry.to, 157, 100);
  write('ustar\x0000', 257, 8);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A path that is too long for the field of the name has its folder in a field of its own. */
function splitPath(path: string): { readonly folder: string; readonly name: string } {
  if (Buffer.byteLength(path) <= LONGEST_NAME) return { folder: '', name: path };
  const end = path.lastIndexOf('/', path.length - 2);
  return { folder: path.slice(0, Math.max(end, 0)), name: path.slice(end + 1) };
}
