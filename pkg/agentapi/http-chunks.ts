const MAX_SIZE_LINE = 256;
const CR = 13;
const LF = 10;

export type ChunkedBody =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'truncated'; readonly why: string }
  | { readonly kind: 'junk'; readonly why: string };

/** Undoes `transfer-encoding: chunked`. What follows the last chunk (trailers) is not looked at. */
export function joinChunks(rest: Uint8Array): ChunkedBody {
  // One buffer, not a list of chunks: a few megabytes in tiny chunks would not fit into the plugin's memory.
  const body = new Uint8Array(rest.length);
  let length = 0;
  let at = 0;
  for (;;) {
    const lineEnd = findLineEnd(rest, at);
    if (lineEnd === null) {
      return rest.length - at > MAX_SIZE_LINE
        ? { kind: 'junk', why: 'a chunk of it has no size' }
        : { kind: 'truncated', why: 'it ended before its last chunk' };
    }
    const size = parseSize(rest.subarray(at, lineEnd));
    if (size === null) return { kind: 'junk', why: 'a chunk of it has no size' };
    if (size === 0) return { kind: 'whole', bytes: body.subarray(0, length) };
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return { kind: 'truncated', why: 'it ended inside a chunk' };
    if (rest[start + size] !== CR || rest[start + size + 1] !== LF)
      return { kind: 'junk', why: 'a chunk of it has the wrong size' };
    body.set(rest.subarray(start, start + size), length);
    length += size;
    at = start + size + 2;
  }
}

function findLineEnd(bytes: Uint8Array, from: number): number | null {
  const limit = Math.min(bytes.length - 1, from + MAX_SIZE_LINE);
  for (let at = from; at < limit; at++) if (bytes[at] === CR && bytes[at + 1] === LF) return at;
  return null;
}

/** Hexadecimal, perhaps followed by `;extension`. */
function parseSize(line: Uint8Array): number | null {
  const match = /^([0-9a-fA-F]{1,8})[ \t]*(?:;.*)?$/.exec(String.fromCharCode(...line));
  return match?.[1] === undefined ? null : Number.parseInt(match[1], 16);
}
