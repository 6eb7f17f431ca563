/** A file of an archive. Its name may have 100 bytes, and the folders before it 155. */
export interface ArchivedFile {
  readonly path: string;
  readonly text: string;
}

const BLOCK = 512;
const LONGEST_NAME = 100;
const LONGEST_FOLDER = 155;

/** A tar archive in the format of POSIX (ustar). The order of the files stays. */
export function toTar(files: readonly ArchivedFile[], at: Date): Buffer {
  const parts = files.flatMap(({ path, text }) => {
    const content = Buffer.from(text);
    return [header(path, content.length, at), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(path: string, size: number, at: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  const end = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, Math.max(end, 0)), path.slice(end + 1)];
  if (Buffer.byteLength(name) > LONGEST_NAME || Buffer.byteLength(folder) > LONGEST_FOLDER) {
    throw new RangeError(`${path} is too long for an archive`);
  }
  const put = (text: string, offset: number) => void block.write(text, offset);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  put(name, 0);
  put(`${octal(0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100); // mode, uid, gid
  put(`${octal(size, 11)}\0${octal(Math.floor(at.getTime() / 1_000), 11)}\0`, 124);
  put(' '.repeat(8), 148); // the checksum counts as spaces
  put('0', 156);
  put('ustar\x0000', 257);
  put(folder, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\0 `, 148);
  return block;
}
