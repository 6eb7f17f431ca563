import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { parseDurationSeconds } from './duration.ts';

const WEEK = 7 * 24 * 3600;

test.each([
  ['0s', 0],
  ['90s', 90],
  ['5m', 300],
  ['1h', 3600],
  ['1h30m', 5400],
  ['1h0m5s', 3605],
  ['168h', WEEK],
  ['604800s', WEEK],
])('%s is %i seconds', (text, seconds) => {
  expect(parseDurationSeconds(text, WEEK)).toBe(seconds);
});

test.each(['', '5', 'm', '-5m', '+5m', '5M', '1.5h', '500ms', '1d', '5m1h', '5m5m', ' 5m', '5m\n', '12345678s'])(
  '%j is refused',
  (text) => {
    expect(() => parseDurationSeconds(text, WEEK)).toThrow(
      new IpamError('bad-input', `${JSON.stringify(text)} is not a duration such as 90s, 5m or 1h30m`),
    );
  },
);

test.each(['169h', '604801s', '9999999h'])('%s is too long', (text) => {
  expect(() => parseDurationSeconds(text, WEEK)).toThrow(`${text} is more than the allowed 168h`);
});
