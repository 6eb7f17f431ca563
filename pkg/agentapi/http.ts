import { CLIENT_HEADER } from './wire.ts';

const MAX_HEAD = 16 * 1024;
const CR = 13;
const LF = 10;
/** As many arguments as one call may well have. */
const FEW = 512;
const LENGTH = /^\d{1,15}$/;
const CLIENT_VERSION = '1';
const MAX_SIZE_LINE = 256;

/** What a whole connection's bytes mean. */
type HttpAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: Uint8Array }
  /** It began well and ended too early. */
  | { readonly kind: 'truncated'; readonly why: string }
  /** It is not HTTP as we know it. */
  | { readonly kind: 'junk'; readonly why: string };

export function decodeAnswer(bytes: Uint8Array): HttpAnswer {
  const headEnd = findHeadEnd(bytes);
  const head = toAscii(bytes.subarray(0, headEnd ?? Math.min(bytes.length, MAX_HEAD)));
  const status = parseStatus(head);
  if (status === null) return { kind: 'junk', why: 'it does not begin with an HTTP status line' };
  if (headEnd === null) {
    return bytes.length >= MAX_HEAD
      ? { kind: 'junk', why: `its headers are larger than ${MAX_HEAD} bytes` }
      : { kind: 'truncated', why: 'it ended inside the headers' };
  }
  return decodeBody(status, head, bytes.subarray(headEnd));
}

/** How many bytes an answer with this beginning has, if that is known. */
export function answerLength(firstBytes: Uint8Array): number | null {
  const headEnd = findHeadEnd(firstBytes);
  const headers = headEnd === null ? null : parseHeaders(toAscii(firstBytes.subarray(0, headEnd)));
  const length = headers?.get('content-length');
  if (headEnd === null || length === undefined || !LENGTH.test(length)) return null;
  return headers?.has('transfer-encoding') === true ? null : headEnd + Number(length);
}

function decodeBody(status: number, head: string, rest: Uint8Array): HttpAnswer {
  const headers = parseHeaders(head);
  if (headers === null) return { kind: 'junk', why: 'its headers are malformed or say two lengths' };
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') return { kind: 'junk', why: 'its transfer encoding is not known' };
    return toAnswer(status, joinChunks(rest));
  }
  const length = headers.get('content-length');
  if (length === undefined) return { kind: 'answer', status, body: rest };
  if (!LENGTH.test(length)) return { kind: 'junk', why: 'its content length is no number' };
  return toAnswer(status, cutTo(Number(length), rest));
}

function toAnswer(status: number, body: ChunkedBody): HttpAnswer {
  return body.kind === 'whole' ? { kind: 'answer', status, body: body.bytes } : body;
}

function cutTo(length: number, rest: Uint8Array): ChunkedBody {
  if (rest.length < length) return { kind: 'truncated', why: `${rest.length} of ${length} bytes arrived` };
  // What comes after it is not waited for, so it cannot be judged either.
  return { kind: 'whole', bytes: rest.subarray(0, length) };
}

/** The index after the empty line; null when there is none within the limit. */
function findHeadEnd(bytes: Uint8Array): number | null {
  const limit = Math.min(bytes.length, MAX_HEAD);
  for (let at = bytes.indexOf(LF); at >= 0 && at < limit; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] === CR && bytes[at - 2] === LF && bytes[at - 3] === CR) return at + 1;
  }
  return null;
}

function parseStatus(head: string): number | null {
  const match = /^HTTP\/1\.[01] ([2-5]\d\d)(?: [^\r\n]*)?(?:\r\n|$)/.exec(head);
  return match === null ? null : Number(match[1]);
}

/** Null when a line is no header or when a header that frames the body comes twice. */
function parseHeaders(head: string): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1)) {
    if (line === '') continue;
    const colon = line.indexOf(':');
    if (colon < 1) return null;
    const name = line.slice(0, colon).toLowerCase();
    if ((name === 'content-length' || name === 'transfer-encoding') && headers.has(name)) return null;
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

function toAscii(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += FEW) text += String.fromCharCode(...bytes.subarray(at, at + FEW));
  return text;
}

/** One HTTP/1.1 request that asks for the end of the connection. `path` must be plain ASCII. */
export function encodeRequest(method: 'GET' | 'POST' | 'DELETE', path: string, body: Uint8Array | null): Uint8Array {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: ipledger',
    'connection: close',
    `${CLIENT_HEADER}: ${CLIENT_VERSION}`,
  ];
  if (body !== null) lines.push('content-type: application/json', `content-length: ${body.length}`);
  const head = `${lines.join('\r\n')}\r\n\r\n`;
  const request = new Uint8Array(head.length + (body?.length ?? 0));
  for (let at = 0; at < head.length; at++) request[at] = head.charCodeAt(at);
  if (body !== null) request.set(body, head.length);
  return request;
}

type ChunkedBody =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'truncated'; readonly why: string }
  | { readonly kind: 'junk'; readonly why: string };

/** Undoes `transfer-encoding: chunked`. What follows the last chunk (trailers) is not looked at. */
function joinChunks(rest: Uint8Array): ChunkedBody {
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
