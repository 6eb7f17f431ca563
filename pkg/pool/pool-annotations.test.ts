import { expect, test } from 'vitest';
import { parseIppool, parseIppools } from './pool-annotations.ts';

const eth0 = { interface: 'eth0', interfaceIndex: 0 };
const net1 = { interface: 'net1', interfaceIndex: 1 };

test.each([
  { name: 'both families', text: '{"ipv4":["a","b*"],"ipv6":["c"]}', expected: { v4: ['a', 'b*'], v6: ['c'] } },
  { name: 'one family', text: '{"ipv4":["a"]}', expected: { v4: ['a'], v6: [] } },
  { name: 'an empty object', text: '{}', expected: { v4: [], v6: [] } },
  { name: 'keys in any case', text: '{"IPv4":["a"],"IPV6":["b"]}', expected: { v4: ['a'], v6: ['b'] } },
  { name: 'null is absent', text: '{"ipv4":["a"],"ipv6":null}', expected: { v4: ['a'], v6: [] } },
  { name: 'a hundred names', text: poolList(100), expected: { v4: namesTo(100), v6: [] } },
  { name: 'a name of 253 characters', text: poolOf('x'.repeat(253)), expected: { v4: ['x'.repeat(253)], v6: [] } },
])('ippool: $name', ({ text, expected }) => {
  expect(parseIppool(text)).toEqual({ value: expected, warnings: [] });
});

test.each([
  { name: 'empty text', text: '', fault: 'bad JSON: Unexpected end of JSON input' },
  {
    name: 'no JSON',
    text: '{"ipv4":["a",]}',
    fault: `bad JSON: Unexpected token ']', "{"ipv4":["a",]}" is not valid JSON`,
  },
  {
    name: 'no JSON, over lines',
    text: '{\n\n"a" 1',
    fault: `bad JSON: Expected ':' after property name in JSON at position 7 (line 3 column 5)`,
  },
  {
    name: 'no JSON, quoted over lines',
    text: '{"a":\n x}',
    fault: `bad JSON: Unexpected token 'x', "{"a":  x}" is not valid JSON`,
  },
  { name: 'null', text: 'null', fault: 'the value must be an object, is null' },
  { name: 'a list', text: '["a"]', fault: 'the value must be an object, is a list' },
  { name: 'a string', text: '"a"', fault: 'the value must be an object, is a string' },
  { name: 'a name in place of a list', text: '{"ipv4":"a"}', fault: 'ipv4 must be a list, is a string' },
  { name: 'an object in place of a list', text: '{"ipv6":{"0":"a"}}', fault: 'ipv6 must be a list, is an object' },
  { name: 'a number as name', text: '{"ipv4":["a",7]}', fault: 'ipv4[1] must be a string, is a number' },
  { name: 'an empty name', text: '{"ipv4":[""]}', fault: 'ipv4[0] is an empty name' },
  { name: 'null as name', text: '{"ipv4":[null]}', fault: 'ipv4[0] is an empty name' },
  { name: 'a long name', text: poolOf('x'.repeat(254)), fault: 'ipv4[0] is longer than 253 characters' },
  { name: 'many names', text: poolList(101), fault: 'ipv4 has 101 items, at most 100 are read' },
  { name: 'two spellings', text: '{"ipv4":["a"],"IPv4":["b"]}', fault: 'the value has the key ipv4 in two spellings' },
  { name: 'a long text', text: ' '.repeat(65537), fault: '65537 bytes are too long, at most 65536 are read' },
  { name: 'a text long in bytes', text: 'é'.repeat(40000), fault: '80000 bytes are too long, at most 65536 are read' },
  {
    name: 'deep nesting',
    text: '['.repeat(30000) + ']'.repeat(30000),
    fault: 'the value must be an object, is a list',
  },
])('ippool is refused: $name', ({ text, fault }) => {
  const error = { reason: 'bad-annotation', message: `annotation ipam.spidernet.io/ippool: ${fault}` };
  expect(() => parseIppool(text)).toThrow(expect.objectContaining(error));
});

test.each([
  { name: 'one', text: '{"ipv4":["a"],"ipv5":["b"]}', listed: '"ipv5"' },
  { name: '__proto__', text: '{"ipv4":["a"],"__proto__":{"ipv6":["b"]}}', listed: '"__proto__"' },
  { name: 'constructor', text: '{"ipv4":["a"],"constructor":1}', listed: '"constructor"' },
  { name: 'an interface, which only ippools knows', text: '{"ipv4":["a"],"interface":"eth0"}', listed: '"interface"' },
  {
    name: 'many',
    text: '{"ipv4":["a"],"k1":0,"k2":0,"k3":0,"k4":0,"k5":0,"k6":0,"k7":0}',
    listed: '"k1", "k2", "k3", "k4", "k5" … and 2 more',
  },
])('unknown keys are reported and change nothing: $name', ({ text, listed }) => {
  expect(parseIppool(text)).toEqual({
    value: { v4: ['a'], v6: [] },
    warnings: [`annotation ipam.spidernet.io/ippool: the value has unknown keys that are ignored: ${listed}`],
  });
});

const NAMED = '[{"interface":"eth0","ipv4":["a"]},{"interface":"net1","ipv6":["b"],"cleangateway":true}]';
const UNNAMED = '[{"ipv4":["a"]},{"ipv6":["b"],"cleangateway":true}]';
const FIRST = { v4: ['a'], v6: [], cleanGateway: false };
const SECOND = { v4: [], v6: ['b'], cleanGateway: true };

test.each([
  { name: 'a named interface', text: NAMED, nic: eth0, expected: FIRST },
  { name: 'another named interface', text: NAMED, nic: net1, expected: SECOND },
  { name: 'names do not care for positions', text: NAMED, nic: { ...net1, interfaceIndex: 0 }, expected: SECOND },
  { name: 'names need no position', text: NAMED, nic: { ...eth0, interfaceIndex: null }, expected: FIRST },
  { name: 'unnamed items go by position', text: UNNAMED, nic: eth0, expected: FIRST },
  {
    name: 'unnamed items need no eth0',
    text: UNNAMED,
    nic: { interface: 'net7', interfaceIndex: 1 },
    expected: SECOND,
  },
  { name: 'an empty interface is not given', text: '[{"interface":"","ipv4":["a"]}]', nic: eth0, expected: FIRST },
  {
    name: 'keys in any case',
    text: '[{"Interface":"eth0","IPv4":["a"],"CleanGateway":true}]',
    nic: eth0,
    expected: { ...FIRST, cleanGateway: true },
  },
])('ippools: $name', ({ text, nic, expected }) => {
  expect(parseIppools(text, nic)).toEqual({ value: expected, warnings: [] });
});

test.each([
  { name: 'no list', text: '{"ipv4":["a"]}', nic: eth0, fault: 'the value must be a list, is an object' },
  { name: 'an empty list', text: '[]', nic: eth0, fault: 'the list is empty' },
  { name: 'null', text: 'null', nic: eth0, fault: 'the list is empty' },
  { name: 'an item that is no object', text: '["a"]', nic: eth0, fault: '[0] must be an object, is a string' },
  { name: 'a bad family', text: '[{},{"ipv4":1}]', nic: eth0, fault: '[1].ipv4 must be a list, is a number' },
  {
    name: 'a bad flag',
    text: '[{"cleangateway":"yes"}]',
    nic: eth0,
    fault: '[0].cleangateway must be true or false, is a string',
  },
  {
    name: 'a bad interface',
    text: '[{"interface":1}]',
    nic: eth0,
    fault: '[0].interface must be a string, is a number',
  },
  {
    name: 'some interfaces named',
    text: '[{"interface":"eth0"},{}]',
    nic: eth0,
    fault: 'interface must be given in all items or in none',
  },
  {
    name: 'an interface twice',
    text: '[{"interface":"eth0"},{"interface":"eth0"}]',
    nic: eth0,
    fault: 'duplicate interface "eth0"',
  },
  {
    name: 'the current interface not named',
    text: NAMED,
    nic: { interface: 'net2', interfaceIndex: 2 },
    fault: 'interface "net2" is not among the named ones: "eth0", "net1"',
  },
  {
    name: 'no item at the position',
    text: UNNAMED,
    nic: { interface: 'net2', interfaceIndex: 2 },
    fault: 'there are 2 items, none for interface "net2" at position 2 from 0',
  },
  {
    name: 'no position, for a reason',
    text: UNNAMED,
    nic: { interface: 'net2', interfaceIndex: null, multusUnknownBecause: 'annotation x: bad JSON' },
    fault: 'the items name no interface and the position of interface "net2" is unknown: annotation x: bad JSON',
  },
  {
    name: 'no position',
    text: UNNAMED,
    nic: { interface: 'net2', interfaceIndex: null },
    fault: 'the items name no interface and the position of interface "net2" is unknown',
  },
  {
    name: 'many items',
    text: `[${Array(101).fill('{}').join()}]`,
    nic: eth0,
    fault: 'the value has 101 items, at most 100 are read',
  },
])('ippools is refused: $name', ({ text, nic, fault }) => {
  const error = { reason: 'bad-annotation', message: `annotation ipam.spidernet.io/ippools: ${fault}` };
  expect(() => parseIppools(text, nic)).toThrow(expect.objectContaining(error));
});

test('ippools: unknown keys are reported with the item they are in', () => {
  const { warnings } = parseIppools('[{"ipv4":["a"]},{"gateway":"x"}]', eth0);
  expect(warnings).toEqual(['annotation ipam.spidernet.io/ippools: [1] has unknown keys that are ignored: "gateway"']);
});

function poolOf(...names: string[]): string {
  return JSON.stringify({ ipv4: names });
}

function poolList(count: number): string {
  return poolOf(...namesTo(count));
}

function namesTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`);
}
