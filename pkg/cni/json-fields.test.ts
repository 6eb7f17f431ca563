import { expect, test } from 'vitest';
import { JsonFields } from './json-fields.ts';

const fields = (value: unknown) => JsonFields.of(value, 'the body', 'bad-config');

test.each<{ name: string; read: () => unknown; message: string }>([
  { name: 'no object', read: () => fields([]), message: 'the body must be an object' },
  { name: 'missing text', read: () => fields({}).text('a', 9), message: 'a is missing' },
  { name: 'null text', read: () => fields({ a: null }).text('a', 9), message: 'a is missing' },
  { name: 'inherited text', read: () => fields({}).text('constructor', 9), message: 'constructor is missing' },
  { name: 'number for text', read: () => fields({ a: 1 }).text('a', 9), message: 'a must be a string' },
  { name: 'long text', read: () => fields({ a: 'xx' }).text('a', 1), message: 'a is longer than 1 characters' },
  { name: 'line break', read: () => fields({ a: '\n' }).text('a', 9), message: 'a contains control characters' },
  { name: 'text for flag', read: () => fields({ a: 'true' }).optionalFlag('a'), message: 'a must be true or false' },
  {
    name: 'fraction',
    read: () => fields({ a: 1.5 }).optionalInteger('a', 0, 9),
    message: 'a must be a whole number from 0 to 9',
  },
  {
    name: 'too large',
    read: () => fields({ a: 10 }).optionalInteger('a', 0, 9),
    message: 'a must be a whole number from 0 to 9',
  },
  {
    name: 'too small',
    read: () => fields({ a: -1 }).optionalInteger('a', 0, 9),
    message: 'a must be a whole number from 0 to 9',
  },
  { name: 'no list', read: () => fields({ a: {} }).optionalTexts('a', 9, 9), message: 'a must be a list' },
  {
    name: 'long list',
    read: () => fields({ a: ['', ''] }).optionalTexts('a', 1, 9),
    message: 'a has more than 1 items',
  },
  { name: 'item', read: () => fields({ a: ['', 1] }).optionalTexts('a', 9, 9), message: 'a[1] must be a string' },
  { name: 'no objects', read: () => fields({}).objects('a', 9), message: 'a is missing' },
  { name: 'object item', read: () => fields({ a: [1] }).objects('a', 9), message: 'a[0] must be an object' },
  {
    name: 'nested path',
    read: () =>
      fields({ a: [{ b: { c: 1 } }] })
        .objects('a', 9)[0]
        ?.optionalObject('b')
        ?.text('c', 9),
    message: 'a[0].b.c must be a string',
  },
])('$name: $message', ({ read, message }) => {
  expect(read).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});

test('null counts as absent', () => {
  const nulls = fields({ a: null });
  expect(nulls.optionalText('a', 9)).toBeUndefined();
  expect(nulls.optionalTexts('a', 9, 9)).toBeUndefined();
  expect(nulls.optionalObject('a')).toBeUndefined();
  expect(nulls.optionalFlag('a')).toBeUndefined();
});

test('a plain string is a list of one', () => {
  expect(fields({ a: 'x' }).textOrTexts('a', 9, 9)).toEqual(['x']);
  expect(fields({ a: ['x', 'y'] }).textOrTexts('a', 9, 9)).toEqual(['x', 'y']);
});
