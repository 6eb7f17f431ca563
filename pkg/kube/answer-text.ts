import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const inflate = promisify(gunzip);

/** The text of an answer, or null when it is larger than allowed or not what its encoding says. */
export function answerText(
  chunks: readonly Buffer[],
  encoding: string | undefined,
  maxBytes: number,
): string | Promise<string | null> {
  const [first] = chunks;
  const whole = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  if (encoding !== 'gzip') return whole.toString();
  return inflate(whole, { maxOutputLength: maxBytes }).then(
    (bytes) => bytes.toString(),
    () => null,
  );
}
