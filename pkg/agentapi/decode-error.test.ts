import { expect, test } from 'vitest';
import { decodeError } from './decode-error.ts';

test.each([
  {
    name: 'our own body',
    text: '{"reason":"no-eligible-pool","message":"no pool fits","details":"pool-a: node"}',
    error: { reason: 'no-eligible-pool', message: 'no pool fits', details: 'pool-a: node' },
  },
  {
    name: 'a reason of a newer agent',
    text: '{"reason":"moon-phase","message":"not today","details":""}',
    error: { reason: 'internal', message: 'not today', details: '' },
  },
  {
    name: 'an inherited word',
    text: '{"reason":"toString"}',
    error: { reason: 'internal', message: 'the agent answered with status 500' },
  },
  {
    name: "Spiderpool's string",
    text: '"no IPPool available"',
    error: { reason: 'internal', message: 'no IPPool available' },
  },
  { name: 'nothing', text: '', error: { reason: 'internal', message: 'the agent answered with status 500' } },
  { name: 'HTML', text: '<html>', error: { reason: 'internal', message: 'the agent answered with status 500' } },
  { name: 'wrong types', text: '{"reason":1,"message":[],"details":{}}', error: { reason: 'internal', details: '' } },
])('$name', ({ text, error }) => {
  expect(decodeError(500, text)).toMatchObject(error);
});

test('long texts are clipped, not refused', () => {
  const long = 'x'.repeat(100_000);
  const error = decodeError(500, JSON.stringify({ reason: 'internal', message: long, details: long }));
  expect([error.message.length, error.details.length]).toEqual([1024, 8192]);
});
