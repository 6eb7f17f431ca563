import { expect, test } from 'vitest';
import { parseSubnet, parseSubnets } from './subnet-annotations.ts';

test.each([
  {
    name: 'both families',
    text: '{"interface":"net1","ipv4":["s4"],"ipv6":["s6"]}',
    expected: { interface: 'net1', v4: 's4', v6: 's6' },
  },
  {
    name: 'the interface is eth0 when not given',
    text: '{"ipv4":["s4"]}',
    expected: { interface: 'eth0', v4: 's4', v6: null },
  },
  {
    name: 'a name with a star is a name',
    text: '{"ipv6":["s*"]}',
    expected: { interface: 'eth0', v4: null, v6: 's*' },
  },
])('subnet: $name', ({ text, expected }) => {
  expect(parseSubnet(text)).toEqual({ value: expected, warnings: [] });
});

test('subnet: only the first name of a family is used, and it is said', () => {
  expect(parseSubnet('{"ipv4":["a","b"]}')).toEqual({
    value: { interface: 'eth0', v4: 'a', v6: null },
    warnings: ['annotation ipam.spidernet.io/subnet: ipv4: only the first subnet is used'],
  });
});

test.each([
  { name: 'an empty name', text: '{"ipv4":[""]}', fault: 'ipv4[0] is an empty name' },
  { name: 'no family', text: '{"interface":"eth0"}', fault: 'the value names no subnet' },
  { name: 'empty families', text: '{"ipv4":[],"ipv6":null}', fault: 'the value names no subnet' },
  {
    name: 'an interface that is longer than Linux allows',
    text: '{"interface":"a-name-with-16-b","ipv4":["a"]}',
    fault: 'interface "a-name-with-16-b" cannot be the name of an interface',
  },
  {
    name: 'an interface with a line break, which would forge a line of what the subnet says of others',
    text: '{"interface":"e\\nv1","ipv4":["a"]}',
    fault: 'interface "e\\nv1" cannot be the name of an interface',
  },
  {
    name: 'an interface that is a path',
    text: '{"interface":"..","ipv4":["a"]}',
    fault: 'interface ".." cannot be the name of an interface',
  },
  { name: 'bad JSON', text: 'subnet-a', fault: 'bad JSON: Unexpected token \'s\', "subnet-a" is not valid JSON' },
])('subnet is refused: $name', ({ text, fault }) => {
  const error = { reason: 'bad-annotation', message: `annotation ipam.spidernet.io/subnet: ${fault}` };
  expect(() => parseSubnet(text)).toThrow(expect.objectContaining(error));
});

test('subnets: one item for each interface', () => {
  const text = '[{"interface":"eth0","ipv4":["a"],"ipv6":["b"]},{"interface":"net1","ipv4":["c"]}]';
  expect(parseSubnets(text)).toEqual({
    value: [
      { interface: 'eth0', v4: 'a', v6: 'b' },
      { interface: 'net1', v4: 'c', v6: null },
    ],
    warnings: [],
  });
});

test.each([
  { name: 'an empty list', text: '[]', fault: 'the list is empty' },
  { name: 'no interface', text: '[{"ipv4":["a"]}]', fault: 'every item must name its interface' },
  { name: 'no family', text: '[{"interface":"eth0"}]', fault: '[0] names no subnet' },
  { name: 'an empty name', text: '[{"interface":"eth0","ipv6":[""]}]', fault: '[0].ipv6[0] is an empty name' },
  {
    name: 'an interface twice',
    text: '[{"interface":"eth0","ipv4":["a"]},{"interface":"eth0","ipv4":["b"]}]',
    fault: 'duplicate interface "eth0"',
  },
  {
    name: 'an IPv4 subnet on two interfaces',
    text: '[{"interface":"eth0","ipv4":["a"]},{"interface":"net1","ipv4":["a"]}]',
    fault: 'subnet "a" is on two interfaces',
  },
  {
    name: 'an IPv6 subnet on two interfaces',
    text: '[{"interface":"eth0","ipv6":["a"]},{"interface":"net1","ipv6":["a"]}]',
    fault: 'subnet "a" is on two interfaces',
  },
])('subnets is refused: $name', ({ text, fault }) => {
  const error = { reason: 'bad-annotation', message: `annotation ipam.spidernet.io/subnets: ${fault}` };
  expect(() => parseSubnets(text)).toThrow(expect.objectContaining(error));
});
