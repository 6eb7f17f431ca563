import { expect, test } from 'vitest';
import {
  clip,
  isContainerId,
  isInterfaceName,
  isNetworkName,
  isPlainText,
  JsonFields,
  parseJsonObject,
  quoteInput,
} from './untrusted-input.ts';

test.each([
  { text: 'short', max: 5, clipped: 'short' },
  { text: 'longer', max: 5, clipped: 'long…' },
  { text: 'abc😀', max: 4, clipped: 'abc…' },
  { text: 'ab😀cd', max: 4, clipped: 'ab…' },
])('$text is clipped to $max as $clipped', ({ text, max, clipped }) => {
  expect(clip(text, max)).toBe(clipped);
});

test.each(['a\nb', 'a\u0000', '\u007f', 'toolong'])('%j is not plain', (text) => {
  expect(isPlainText(text, 4)).toBe(false);
});

test('a quote is short', () => {
  expect(quoteInput('x'.repeat(1000))).toHaveLength(82);
});

test('a quote cannot forge a second line', () => {
  expect(quoteInput('a\nb"')).toBe('"a\\nb\\""');
});

test.each([
  { text: 'a'.repeat(128), valid: true },
  { text: '0_.-Z', valid: true },
  { text: 'a'.repeat(129), valid: false },
  { text: '', valid: false },
  { text: '-a', valid: false },
  { text: '.a', valid: false },
  { text: 'a/b', valid: false },
  { text: 'a\n', valid: false },
  { text: 'ä', valid: false },
])('container ID $text: $valid', ({ text, valid }) => {
  expect(isContainerId(text)).toBe(valid);
});

test('network names follow the same form and may be as long as a DNS name', () => {
  expect(isNetworkName('a'.repeat(253))).toBe(true);
  expect(isNetworkName('a'.repeat(254))).toBe(false);
  expect(isNetworkName('../x')).toBe(false);
});

test.each([
  { text: 'eth0', valid: true },
  { text: 'a'.repeat(15), valid: true },
  { text: 'vlan@é', valid: true },
  { text: 'a'.repeat(16), valid: false },
  { text: 'é'.repeat(7), valid: true },
  { text: 'é'.repeat(8), valid: false },
  { text: '😀'.repeat(4), valid: false },
  { text: '', valid: false },
  { text: '.', valid: false },
  { text: '..', valid: false },
  { text: 'a/b', valid: false },
  { text: 'a:1', valid: false },
  { text: 'a b', valid: false },
  { text: 'a\u00a0b', valid: false },
  { text: 'a\u0000', valid: false },
  { text: 'a\ud800', valid: false },
])('interface name $text: $valid', ({ text, valid }) => {
  expect(isInterfaceName(text)).toBe(valid);
});

const parse = (text: string) => parseJsonObject(text, 'stdin', 'bad-input');

test('an object within the bounds is parsed', () => {
  expect(parse('{"a":[1,"]]]]{{",{"b":"\\""}]}')).toEqual({ a: [1, ']]]]{{', { b: '"' }] });
});

test.each([
  { name: 'nothing', text: '', message: 'stdin is empty' },
  { name: 'white space', text: ' \n\t', message: 'stdin is empty' },
  { name: 'words', text: 'hello', message: 'stdin is not JSON' },
  { name: 'half a document', text: '{"a":', message: 'stdin is not JSON' },
  { name: 'an open string', text: '{"a":"\\', message: 'stdin is not JSON' },
  { name: 'two documents', text: '{} {}', message: 'stdin is not JSON' },
  { name: 'a list', text: '[1]', message: 'stdin is not a JSON object' },
  { name: 'null', text: 'null', message: 'stdin is not a JSON object' },
  { name: 'a string', text: '"x"', message: 'stdin is not a JSON object' },
  {
    name: 'a tower',
    text: `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
    message: 'stdin is nested deeper than 64 levels',
  },
  { name: 'a tower of objects', text: '{"a":'.repeat(65), message: 'stdin is nested deeper than 64 levels' },
  { name: 'a crowd', text: `{"a":[${'0,'.repeat(100_000)}0]}`, message: 'stdin is made of more than 100000 values' },
  {
    name: 'a crowd of lists',
    text: `{"a":[${'[],'.repeat(60_000)}[]]}`,
    message: 'stdin is made of more than 100000 values',
  },
  {
    name: 'a flood of keys',
    text: `{"ipam":{${Array.from({ length: 1_001 }, (_, at) => `"k${at}":0`).join()}}}`,
    message: 'stdin is an object with more than 1000 keys, or has one inside',
  },
])('$name is refused: $message', ({ text, message }) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
});

test('brackets inside a string are no levels, whatever is escaped before them', () => {
  const object = { a: `\\"${'['.repeat(100)}`, b: '\\' };
  expect(parse(JSON.stringify(object))).toEqual(object);
});

test('many objects with few keys each pass', () => {
  const attachments = Array.from({ length: 10_000 }, (_, at) => ({ containerID: `c${at}`, ifname: 'eth0' }));
  expect(parse(JSON.stringify({ attachments }))).toEqual({ attachments });
});

test('exactly 64 levels pass', () => {
  expect(parse(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)).toHaveProperty('a');
});

test('the details show how it begins, without its control characters', () => {
  expect(() => parse('\u001b[31mred')).toThrow(
    expect.objectContaining({ details: 'It begins with "\\u001b[31mred".' }),
  );
});

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
