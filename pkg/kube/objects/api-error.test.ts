import { expect, test } from 'vitest';
import { toApiError } from './api-error.ts';
import { type FailureKind, failure } from './outcome.ts';

const DENIED = 'admission webhook "policy.example.org" denied the request: no';

test.each<{ because: FailureKind; says?: string; reason: string; message: string; details?: string }>([
  { because: 'Forbidden', reason: 'bad-config', message: 'this account is not allowed to', details: 'm' },
  { because: 'Forbidden', says: DENIED, reason: 'bad-config', message: 'an admission webhook', details: DENIED },
  {
    because: 'Unauthorized',
    reason: 'api-server-unavailable',
    message: 'the API server does not accept',
    details: 'm',
  },
  { because: 'NotServed', reason: 'bad-config', message: 'where are the CRDs', details: 'm' },
  { because: 'Invalid', reason: 'internal', message: 'the API server refused it', details: 'm' },
  { because: 'TooLarge', reason: 'bad-config', message: 'the answer is larger than is read at once', details: 'm' },
  { because: 'Unreachable', reason: 'api-server-unavailable', message: 'm' },
  { because: 'OutOfTime', reason: 'out-of-time', message: 'm' },
  { because: 'Unknown', reason: 'api-server-unavailable', message: 'm' },
  { because: 'ServerError', reason: 'api-server-unavailable', message: 'm' },
])('$because is $reason', ({ because, says = 'm', reason, message, details }) => {
  const error = toApiError('read it', failure(because, says), 'where are the CRDs');
  expect(error).toMatchObject({ reason, message: expect.stringContaining(`cannot read it: ${message}`) });
  expect(error.details ?? '').toBe(details === undefined ? '' : `the API server says: ${details}`);
});
