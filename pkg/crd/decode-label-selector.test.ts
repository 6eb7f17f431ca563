import { expect, test } from 'vitest';
import { decodeLabelSelector, isEmptySelector } from './decode-label-selector.ts';

const expression = (operator: unknown, values?: unknown, key: unknown = 'zone') => ({
  matchExpressions: [{ key, operator, values }],
});

test('labels and expressions are read', () => {
  const value = {
    matchLabels: { app: 'web', 'example.com/tier': '' },
    matchExpressions: [
      { key: 'zone', operator: 'In', values: ['a', 'b'] },
      { key: 'constructor', operator: 'DoesNotExist', values: null },
    ],
  };
  expect(decodeLabelSelector(value, 's')).toEqual({
    matchLabels: { app: 'web', 'example.com/tier': '' },
    matchExpressions: [
      { key: 'zone', operator: 'In', values: ['a', 'b'] },
      { key: 'constructor', operator: 'DoesNotExist', values: [] },
    ],
  });
});

test.each([
  ['nothing', {}, true],
  ['empty parts', { matchLabels: {}, matchExpressions: null }, true],
  ['a label', { matchLabels: { a: 'b' } }, false],
  ['an expression', expression('Exists'), false],
])('a selector of %s is empty: %s', (_, value, expected) => {
  expect(isEmptySelector(decodeLabelSelector(value, 's'))).toBe(expected);
});

const long = 'a'.repeat(64);

test.each([
  ['text', 'app=web', 's: expected an object, found "app=web"'],
  ['a mistyped field', { matchLabel: {} }, 's.matchLabel: unknown field; did you mean matchLabels?'],
  ['a label that is no text', { matchLabels: { app: 1 } }, 's.matchLabels.app: expected a string, found 1'],
  ['a bad value', { matchLabels: { app: 'a b' } }, 's.matchLabels.app: "a b" is not a label value'],
  ['a long value', { matchLabels: { app: long } }, `s.matchLabels.app: "${long}" is longer than 63 characters`],
  ['a bad key', { matchLabels: { 'a b': 'c' } }, 's.matchLabels: "a b" is not a label key'],
  ['a long key', { matchLabels: { [long]: 'c' } }, `s.matchLabels: "${long}" is not a label key`],
  ['a bad prefix', { matchLabels: { 'A.com/b': 'c' } }, 's.matchLabels: "A.com/b" is not a label key'],
  ['an empty prefix', { matchLabels: { '/b': 'c' } }, 's.matchLabels: "/b" is not a label key'],
  [
    'a long prefix',
    { matchLabels: { [`${'a'.repeat(254)}/b`]: 'c' } },
    `s.matchLabels: "${'a'.repeat(79)}"… is not a label key`,
  ],
  ['two slashes', { matchLabels: { 'a/b/c': 'd' } }, 's.matchLabels: "a/b/c" is not a label key'],
  [
    'a key of the engine',
    JSON.parse('{"matchLabels":{"__proto__":"a"}}'),
    's.matchLabels: "__proto__" is not a label key',
  ],
  [
    'an unknown operator',
    expression('Gt', ['1']),
    's.matchExpressions[0].operator: expected In or NotIn or Exists or DoesNotExist, found "Gt"',
  ],
  ['In without values', expression('In', []), 's.matchExpressions[0].values: In needs at least one value'],
  ['NotIn without values', expression('NotIn'), 's.matchExpressions[0].values: NotIn needs at least one value'],
  ['Exists with values', expression('Exists', ['a']), 's.matchExpressions[0].values: Exists takes no values'],
  ['no key', expression('Exists', [], null), 's.matchExpressions[0].key: expected a string, found nothing'],
  [
    'a mistyped expression',
    { matchExpressions: [{ keys: 'a' }] },
    's.matchExpressions[0].keys: unknown field; did you mean key?',
  ],
])('%s is refused', (_, value, message) => {
  expect(() => decodeLabelSelector(value, 's')).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
});

test('labels are counted', () => {
  const matchLabels = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`l${index}`, '']));
  expect(() => decodeLabelSelector({ matchLabels }, 's')).toThrow(
    's.matchLabels: has 1001 labels, at most 1000 are allowed',
  );
});
