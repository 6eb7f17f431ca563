import { describe, expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import {
  asBoolean,
  asDnsLabel,
  asDnsSubdomain,
  asFilledString,
  asInteger,
  asListOf,
  asObject,
  asOneOf,
  asParsed,
  asString,
  ifPresent,
  refuseUnknownFields,
} from './untrusted.ts';

describe('a value of the wrong type is refused with path, expectation and finding', () => {
  test.each<[name: string, read: () => unknown, message: string]>([
    ['nothing for an object', () => asObject(undefined, 'spec'), 'spec: expected an object, found nothing'],
    ['null for an object', () => asObject(null, 'spec'), 'spec: expected an object, found nothing'],
    ['a list for an object', () => asObject([], 'spec'), 'spec: expected an object, found a list'],
    ['a number for a string', () => asString(7, 'a.b', 9), 'a.b: expected a string, found 7'],
    ['a long string', () => asString('abcd', 'a', 3), 'a: "abcd" is longer than 3 characters'],
    ['an empty string', () => asFilledString('', 'a', 3), 'a: must not be empty'],
    ['text for a boolean', () => asBoolean('true', 'a'), 'a: expected true or false, found "true"'],
    ['text for a number', () => asInteger('4', 'a', 0, 9), 'a: expected a whole number from 0 to 9, found "4"'],
    ['a fraction', () => asInteger(1.5, 'a', 0, 9), 'a: expected a whole number from 0 to 9, found 1.5'],
    ['a number too low', () => asInteger(-1, 'a', 0, 9), 'a: expected a whole number from 0 to 9, found -1'],
    ['a number too high', () => asInteger(10, 'a', 0, 9), 'a: expected a whole number from 0 to 9, found 10'],
    ['not a number', () => asInteger(Number.NaN, 'a', 0, 9), 'a: expected a whole number from 0 to 9, found NaN'],
    ['none of the choices', () => asOneOf('x', 'a', ['In', 'Out']), 'a: expected In or Out, found "x"'],
    ['an object for a list', () => asListOf({}, 'a', String), 'a: expected a list, found an object'],
    ['a string for a list', () => asListOf('ab', 'a', String), 'a: expected a list, found "ab"'],
    ['a huge list', () => asListOf(Array(1001).fill(0), 'a', String), 'a: has 1001 items, at most 1000 are allowed'],
    ['a bad item', () => asListOf([true, 1], 'a', asBoolean), 'a[1]: expected true or false, found 1'],
  ])('%s', (_, read, message) => {
    expect(read).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });
});

test('a good value passes unchanged', () => {
  expect([asString('abc', 'a', 3), asBoolean(false, 'a'), asInteger(9, 'a', 0, 9), asOneOf(4, 'a', [4, 6])]).toEqual([
    'abc',
    false,
    9,
    4,
  ]);
  expect(asListOf(Array(1000).fill(true), 'a', asBoolean)).toHaveLength(1000);
});

test.each([undefined, null])('%s is an absent value and an empty list', (absent) => {
  expect(ifPresent(absent, () => 'read')).toBeUndefined();
  expect(asListOf(absent, 'a', () => 'read')).toEqual([]);
});

test.each([0, '', false])('%j is present', (value) => {
  expect(ifPresent(value, () => 'read')).toBe('read');
});

test('the names of Object.prototype are ordinary and absent', () => {
  const fields = asObject(JSON.parse('{"__proto__": {"subnet": "10.0.0.0/24"}, "ips": 1}'), 'spec');
  expect([fields['subnet'], fields['constructor'], fields['toString'], fields['ips']]).toEqual([
    undefined,
    undefined,
    undefined,
    1,
  ]);
  expect(() => refuseUnknownFields(fields, 'spec', ['ips'])).toThrow('spec["__proto__"]: unknown field');
  expect(Object.hasOwn(Object.prototype, 'subnet')).toBe(false);
});

test.each([
  ['ipss', 'spec.ipss: unknown field; did you mean ips?'],
  ['excludeips', 'spec.excludeips: unknown field; did you mean excludeIPs?'],
  ['color', 'spec.color: unknown field'],
  ['a b', 'spec["a b"]: unknown field'],
])('the unknown field %j is named', (name, message) => {
  expect(() => refuseUnknownFields({ ips: 1, [name]: 2 }, 'spec', ['ips', 'excludeIPs'])).toThrow(
    new IpamError('bad-input', message),
  );
});

test('asParsed adds the path to what the parser says, and leaves faults of ours alone', () => {
  const complain = () => {
    throw new IpamError('bad-input', 'is odd');
  };
  const crash = () => {
    throw new TypeError('bug');
  };
  expect(() => asParsed('x', 'a.b', 9, complain)).toThrow(new IpamError('bad-input', 'a.b: is odd'));
  expect(() => asParsed('x', 'a.b', 9, crash)).toThrow(TypeError);
});

test.each(['a', '0', 'blue', 'a-b', 'a'.repeat(63)])('the label %s is good', (text) => {
  expect(asDnsLabel(text, 'x')).toBe(text);
});

test.each(['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a b', 'a\n', 'ä'])('the label %j is refused', (text) => {
  expect(() => asDnsLabel(text, 'x')).toThrow(/^x: .* is not a DNS label/);
});

test.each(['a', 'pool-a', 'pool.a', '10.0.2.50', 'a'.repeat(253)])('the name %s is good', (text) => {
  expect(asDnsSubdomain(text, 'x')).toBe(text);
});

test.each(['', '.', 'a.', '.a', 'a..b', 'a.-b', 'Pool', 'a/b', 'a\n'])('the name %j is refused', (text) => {
  expect(() => asDnsSubdomain(text, 'x')).toThrow(/^x: .* is not a DNS name/);
});

test('names have a length', () => {
  expect(() => asDnsLabel('a'.repeat(64), 'x')).toThrow('is longer than 63 characters');
  expect(() => asDnsSubdomain('a'.repeat(254), 'x')).toThrow('is longer than 253 characters');
});
