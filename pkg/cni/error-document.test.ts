import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { toErrorDocument } from './error-document.ts';

test('the reason becomes the code', () => {
  expect(toErrorDocument(new IpamError('bad-config', 'no', { details: 'line\nline' }), '0.4.0')).toEqual({
    cniVersion: '0.4.0',
    code: 7,
    msg: 'no',
    details: 'line\nline',
  });
});

test('no details, no key', () => {
  expect(toErrorDocument(new IpamError('internal', 'no'), '1.1.0')).toEqual({
    cniVersion: '1.1.0',
    code: 999,
    msg: 'no',
  });
});

test('both texts are bounded', () => {
  const long = 'x'.repeat(1_000_000);
  const { msg, details } = toErrorDocument(new IpamError('internal', long, { details: long }), '1.1.0');
  expect([msg.length, details?.length]).toEqual([1024, 8192]);
});
