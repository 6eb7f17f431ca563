import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const inflate = promisify(gunzip);

/** Why an answer has no text: it is larger than allowed, or not what its encoding says. */
export interface NoText {
  readonly isTooLarge: boolean;
}

export function answerText(
  chunks: readonly Buffer[],
  encoding: string | undefined,
  maxBytes: number,
): string | Promise<string | NoText> {
  const [first] = chunks;
  const whole = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  if (encoding !== 'gzip') return whole.toString();
  return inflate(whole, { maxOutputLength: maxBytes }).then(
    (bytes) => bytes.toString(),
    (thrown) => ({ isTooLarge: thrown?.code === 'ERR_BUFFER_TOO_LARGE' }),
  );
}
