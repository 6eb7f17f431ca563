import { expect, test } from 'vitest';
import { answerLength, decodeAnswer, encodeRequest } from './http.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const answer = (head: string, body = '') => bytes(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`);

test.each([
  { name: 'content-length', raw: answer('HTTP/1.1 200 OK\nContent-Length: 3', 'abc'), status: 200, body: 'abc' },
  {
    name: 'content-length in bytes',
    raw: answer('HTTP/1.1 200 OK\ncontent-length: 6', 'é😀'),
    status: 200,
    body: 'é😀',
  },
  {
    name: 'chunks',
    raw: answer('HTTP/1.1 200 OK\nTransfer-Encoding: Chunked', '3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n'),
    status: 200,
    body: 'abcd',
  },
  {
    name: 'chunks in bytes',
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked', '2\r\né\r\n4\r\n😀\r\n0\r\n\r\n'),
    status: 200,
    body: 'é😀',
  },
  {
    name: 'content-length, with more after it',
    raw: answer('HTTP/1.1 200 OK\ncontent-length: 1', 'ab'),
    status: 200,
    body: 'a',
  },
  { name: 'the end of the stream', raw: answer('HTTP/1.0 500 no', 'abc'), status: 500, body: 'abc' },
  { name: 'nothing, 204', raw: answer('HTTP/1.1 204 No Content'), status: 204, body: '' },
  { name: 'no phrase', raw: answer('HTTP/1.1 200\ncontent-length: 0'), status: 200, body: '' },
])('a body framed by $name', ({ raw, status, body }) => {
  expect(decodeAnswer(raw)).toEqual({ kind: 'answer', status, body: bytes(body) });
});

test.each([
  { raw: bytes('SSH-2.0-OpenSSH_9.2\r\n'), kind: 'junk', why: 'it does not begin with an HTTP status line' },
  { raw: bytes('\u0000\u0001'), kind: 'junk', why: 'it does not begin with an HTTP status line' },
  { raw: answer('HTTP/2 200'), kind: 'junk', why: 'it does not begin with an HTTP status line' },
  { raw: answer('HTTP/1.1 100 Continue'), kind: 'junk', why: 'it does not begin with an HTTP status line' },
  {
    raw: answer(`HTTP/1.1 200 OK\nx: ${'y'.repeat(20_000)}`),
    kind: 'junk',
    why: 'its headers are larger than 16384 bytes',
  },
  { raw: answer('HTTP/1.1 200 OK\nnonsense'), kind: 'junk', why: 'its headers are malformed or say two lengths' },
  {
    raw: answer('HTTP/1.1 200 OK\ncontent-length: 1\ncontent-length: 2', 'a'),
    kind: 'junk',
    why: 'its headers are malformed or say two lengths',
  },
  { raw: answer('HTTP/1.1 200 OK\ncontent-length: -1'), kind: 'junk', why: 'its content length is no number' },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: gzip', 'x'),
    kind: 'junk',
    why: 'its transfer encoding is not known',
  },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked', 'zz\r\n'),
    kind: 'junk',
    why: 'a chunk of it has no size',
  },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked', 'x'.repeat(999)),
    kind: 'junk',
    why: 'a chunk of it has no size',
  },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked', '2\r\nabc\r\n0\r\n'),
    kind: 'junk',
    why: 'a chunk of it has the wrong size',
  },
  { raw: bytes('HTTP/1.1 200 OK\r\ncontent-'), kind: 'truncated', why: 'it ended inside the headers' },
  { raw: answer('HTTP/1.1 200 OK\ncontent-length: 10', 'abc'), kind: 'truncated', why: '3 of 10 bytes arrived' },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked', '3\r\nab'),
    kind: 'truncated',
    why: 'it ended inside a chunk',
  },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked', '3\r\nabc\r\n'),
    kind: 'truncated',
    why: 'it ended before its last chunk',
  },
  {
    raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked'),
    kind: 'truncated',
    why: 'it ended before its last chunk',
  },
])('$kind: $why', ({ raw, kind, why }) => {
  expect(decodeAnswer(raw)).toEqual({ kind, why });
});

test.each([
  { name: 'its length', raw: answer('HTTP/1.1 200 OK\nContent-Length: 3', 'a'), length: 41 },
  { name: 'its length, without a body yet', raw: answer('HTTP/1.1 200 OK\ncontent-length: 0'), length: 38 },
  { name: 'no length', raw: answer('HTTP/1.1 200 OK', 'abc'), length: null },
  { name: 'half a head', raw: bytes('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n'), length: null },
  { name: 'chunks', raw: answer('HTTP/1.1 200 OK\ntransfer-encoding: chunked\ncontent-length: 3'), length: null },
  { name: 'a length that is no number', raw: answer('HTTP/1.1 200 OK\ncontent-length: 0x3'), length: null },
  { name: 'two lengths', raw: answer('HTTP/1.1 200 OK\ncontent-length: 3\ncontent-length: 3'), length: null },
  { name: 'nothing', raw: bytes(''), length: null },
])('how long an answer is, told by $name', ({ raw, length }) => {
  expect(answerLength(raw)).toBe(length);
});

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test('a request with a body counts bytes, not characters', () => {
  expect(text(encodeRequest('POST', '/v1/ipam/ip', new TextEncoder().encode('"é😀"')))).toBe(
    'POST /v1/ipam/ip HTTP/1.1\r\nhost: ipledger\r\nconnection: close\r\nx-ipledger-client: 1\r\n' +
      'content-type: application/json\r\ncontent-length: 8\r\n\r\n"é😀"',
  );
});

test('a request without a body has no length', () => {
  expect(text(encodeRequest('GET', '/v1/ipam/status', null))).toBe(
    'GET /v1/ipam/status HTTP/1.1\r\nhost: ipledger\r\nconnection: close\r\nx-ipledger-client: 1\r\n\r\n',
  );
});
