import { expect, test } from 'vitest';
import { parseRoutes } from './route-annotation.ts';

test.each([
  { name: 'no route', text: '[]', expected: [] },
  { name: 'IPv4', text: '[{"dst":"10.1.0.0/16","gw":"10.0.0.1"}]', expected: [{ dst: '10.1.0.0/16', gw: '10.0.0.1' }] },
  {
    name: 'a default route',
    text: '[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}]',
    expected: [{ dst: '0.0.0.0/0', gw: '10.0.0.1' }],
  },
  {
    name: 'IPv6 in canonical text',
    text: '[{"dst":"FD00:0::/64","gw":"fd00:0:0::1"}]',
    expected: [{ dst: 'fd00::/64', gw: 'fd00::1' }],
  },
])('$name', ({ text, expected }) => {
  expect(parseRoutes(text)).toEqual({ value: expected, warnings: [] });
});

test.each([
  { name: 'mixed families', text: '[{"dst":"10.1.0.0/16","gw":"fd00::1"}]', fault: '[0] mixes IPv4 and IPv6' },
  { name: 'no destination', text: '[{"gw":"10.0.0.1"}]', fault: '[0].dst: "" is not an IP address' },
  { name: 'no gateway', text: '[{"dst":"10.1.0.0/16"}]', fault: '[0].gw: "" is not an IP address' },
  {
    name: 'a destination that is no CIDR',
    text: '[{"dst":"10.1.0.0","gw":"10.0.0.1"}]',
    fault: '[0].dst: "10.1.0.0" has no prefix length; expected a CIDR such as 10.0.0.0/24',
  },
  {
    name: 'a gateway that is a number',
    text: '[{"dst":"10.1.0.0/16","gw":1}]',
    fault: '[0].gw must be a string, is a number',
  },
  { name: 'an object', text: '{"dst":"10.1.0.0/16","gw":"10.0.0.1"}', fault: 'the value must be a list, is an object' },
])('refused: $name', ({ text, fault }) => {
  const error = { reason: 'bad-annotation', message: `annotation ipam.spidernet.io/routes: ${fault}` };
  expect(() => parseRoutes(text)).toThrow(expect.objectContaining(error));
});
