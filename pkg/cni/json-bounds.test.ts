import { expect, test } from 'vitest';
import { parseJsonObject } from './json-bounds.ts';

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
