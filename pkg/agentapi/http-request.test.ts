import { expect, test } from 'vitest';
import { encodeRequest } from './http-request.ts';

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
