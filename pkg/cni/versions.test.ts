import { expect, test } from 'vitest';
import { allowsVerb, isSupportedVersion, isVerb, SUPPORTED_VERSIONS, type Verb } from './versions.ts';

test.each<{ verb: Verb; allowedBy: readonly string[] }>([
  { verb: 'ADD', allowedBy: ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] },
  { verb: 'DEL', allowedBy: ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] },
  { verb: 'CHECK', allowedBy: ['0.4.0', '1.0.0', '1.1.0'] },
  { verb: 'GC', allowedBy: ['1.1.0'] },
  { verb: 'STATUS', allowedBy: ['1.1.0'] },
])('$verb is allowed by $allowedBy', ({ verb, allowedBy }) => {
  expect(SUPPORTED_VERSIONS.filter((version) => allowsVerb(version, verb))).toEqual(allowedBy);
});

test.each(['add', 'toString', '', 'UPDATE'])('%j is no verb', (text) => {
  expect(isVerb(text)).toBe(false);
});

test.each(['0.2.0', '1.2.0', '9.9.9', '', null, 1])('%j is no supported version', (value) => {
  expect(isSupportedVersion(value)).toBe(false);
});
