import { describe, expect, test } from 'vitest';
import { statusBody } from '#test/support/scripted-server.ts';
import { readFailure } from './outcome.ts';

const TARGET = { plural: 'ipthings', name: '10.0.0.1' };
const NAMED = { name: '10.0.0.1', group: 'test.io', kind: 'ipthings' };

test.each([
  { name: 'a taken name', code: 409, body: statusBody(409, 'AlreadyExists', NAMED), because: 'AlreadyExists' },
  { name: 'a failed precondition', code: 409, body: statusBody(409, 'Conflict', NAMED), because: 'Conflict' },
  { name: 'a 409 without a reason', code: 409, body: '409', because: 'BadAnswer' },
  { name: 'a 404 that names the object', code: 404, body: statusBody(404, 'NotFound', NAMED), because: 'NotFound' },
  { name: 'a plain 404 page', code: 404, body: '404 page not found', because: 'NotServed' },
  { name: 'a 404 that names nothing', code: 404, body: statusBody(404, 'NotFound'), because: 'NotServed' },
  {
    name: 'a 404 that names the namespace',
    code: 404,
    body: statusBody(404, 'NotFound', { name: '10.0.0.1', kind: 'namespaces' }),
    because: 'NotServed',
  },
  {
    name: 'a 404 that names another object',
    code: 404,
    body: statusBody(404, 'NotFound', { ...NAMED, name: '10.0.0.2' }),
    because: 'NotServed',
  },
  { name: 'an invalid object', code: 422, body: statusBody(422, 'Invalid'), because: 'Invalid' },
  { name: 'a bad request', code: 400, body: statusBody(400, 'BadRequest'), because: 'Invalid' },
  { name: 'a forbidden request', code: 403, body: statusBody(403, 'Forbidden'), because: 'Forbidden' },
  { name: 'a forbidden request by a proxy', code: 403, body: '<html>', because: 'Forbidden' },
  { name: 'a bad token', code: 401, body: statusBody(401, 'Unauthorized'), because: 'Unauthorized' },
  { name: 'an old resourceVersion', code: 410, body: statusBody(410, 'Expired'), because: 'Expired' },
  { name: 'an old resourceVersion of old servers', code: 410, body: statusBody(410, 'Gone'), because: 'Expired' },
  {
    name: 'a resourceVersion that is not reached yet',
    code: 504,
    body: statusBody(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] }),
    because: 'Expired',
  },
  { name: 'a timeout inside the server', code: 504, body: statusBody(504, 'Timeout'), because: 'ServerError' },
  { name: 'a fault of the server', code: 500, body: statusBody(500, 'InternalError'), because: 'ServerError' },
  { name: 'a gateway error', code: 502, body: '<html>', because: 'ServerError' },
  { name: 'too many requests', code: 429, body: 'Too many requests', because: 'TooManyRequests' },
  { name: 'a redirect', code: 302, body: '', because: 'BadAnswer' },
  {
    name: 'a reason that is a property of every object',
    code: 409,
    body: statusBody(409, 'toString'),
    because: 'BadAnswer',
  },
])('$name is $because', ({ code, body, because }) => {
  expect(readFailure(code, body, TARGET)).toMatchObject({ ok: false, because });
});

test.each([
  {
    name: 'the namespace is being deleted',
    code: 403,
    body: statusBody(403, 'Forbidden', {
      ...NAMED,
      causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }],
    }),
    isNamespaceGone: true,
  },
  {
    name: 'the namespace does not exist',
    code: 404,
    body: statusBody(404, 'NotFound', { name: 'zz', kind: 'namespaces' }),
    isNamespaceGone: true,
  },
  { name: 'a right is missing', code: 403, body: statusBody(403, 'Forbidden', NAMED), isNamespaceGone: undefined },
  { name: 'the object is missing', code: 404, body: statusBody(404, 'NotFound', NAMED), isNamespaceGone: undefined },
])('where $name: isNamespaceGone is $isNamespaceGone', ({ code, body, isNamespaceGone }) => {
  expect(readFailure(code, body, TARGET).isNamespaceGone).toBe(isNamespaceGone);
});

describe('the pause the server asks for', () => {
  test.each([
    { name: 'in seconds', retryAfterSeconds: 2, retryAfterMs: 2_000 },
    { name: 'absurdly long', retryAfterSeconds: 1e9, retryAfterMs: 60_000 },
    { name: 'nonsense', retryAfterSeconds: -1, retryAfterMs: undefined },
  ])('$name', ({ retryAfterSeconds, retryAfterMs }) => {
    const read = readFailure(429, statusBody(429, 'TooManyRequests', { retryAfterSeconds }), TARGET);
    expect(read.retryAfterMs).toBe(retryAfterMs);
  });
});

test('a message from the server is kept short', () => {
  const body = { ...statusBody(500, 'InternalError'), message: 'x'.repeat(1e6) };
  expect(readFailure(500, body, TARGET).message).toHaveLength(1_000);
});
