import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeAnswer } from './http.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

const framed = fc.oneof(
  fc.uint8Array().map((body) => ({
    body,
    raw: join(encode(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`), body),
  })),
  fc.array(fc.uint8Array({ minLength: 1 })).map((chunks) => ({
    body: join(...chunks),
    raw: join(
      encode('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
      ...chunks.flatMap((chunk) => [encode(`${chunk.length.toString(16)}\r\n`), chunk, encode('\r\n')]),
      encode('0\r\n\r\n'),
    ),
  })),
);

test('a framed body comes out whole', () => {
  fc.assert(
    fc.property(framed, ({ body, raw }) => {
      expect(decodeAnswer(raw)).toEqual({ kind: 'answer', status: 200, body });
    }),
  );
});

test('a framed answer that is cut anywhere is never taken for a whole one', () => {
  fc.assert(
    fc.property(framed, fc.double({ min: 0, max: 1, noNaN: true }), ({ raw }, where) => {
      // The last chunk's own empty line says nothing more.
      const cut = Math.floor((raw.length - 4) * where);
      expect(decodeAnswer(raw.subarray(0, cut)).kind).not.toBe('answer');
    }),
  );
});

test('any bytes at all are an answer, truncated or junk', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.uint8Array().map((tail) => join(encode('HTTP/1.1 200 OK\r\n'), tail)),
      ),
      (raw) => {
        expect(['answer', 'truncated', 'junk']).toContain(decodeAnswer(raw).kind);
      },
    ),
  );
});
