import { expect, test } from 'vitest';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { decodeRoutes } from './decode-routes.ts';

const subnet = parseCidr('10.0.0.0/24');
const route = (dst: unknown, gw: unknown = '10.0.0.2') => ({ dst, gw });

test('routes keep their order; host bits of a destination go', () => {
  expect(decodeRoutes(subnet, [route('10.7.3.1/16'), route('10.6.0.9/32', '10.0.0.3')], 'routes')).toEqual([
    { dst: '10.7.0.0/16', gw: '10.0.0.2' },
    { dst: '10.6.0.9/32', gw: '10.0.0.3' },
  ]);
});

test.each([
  [
    'the default route',
    [route('0.0.0.0/0')],
    'routes[0].dst: 0.0.0.0/0 is the default route; set spec.gateway instead',
  ],
  [
    'a disguised default route',
    [route('1.2.3.4/0')],
    'routes[0].dst: 0.0.0.0/0 is the default route; set spec.gateway instead',
  ],
  [
    'a destination twice',
    [route('10.7.0.0/16'), route('10.7.9.9/16')],
    'routes[1].dst: 10.7.0.0/16 has a route already',
  ],
  ['another family', [route('fd01::/64')], 'routes[0].dst: fd01::/64 is not of the family of the subnet, IPv4'],
  ['a bare address', [route('10.7.0.1')], 'routes[0].dst: 10.7.0.1 has no prefix length; expected a CIDR'],
  ['no destination', [route(undefined)], 'routes[0].dst: expected a string, found nothing'],
  ['no gateway', [{ dst: '10.7.0.0/16' }], 'routes[0].gw: expected a string, found nothing'],
  ['a gateway outside', [route('10.7.0.0/16', '10.1.0.1')], 'routes[0].gw: 10.1.0.1 is not in the subnet 10.0.0.0/24'],
  ['an unknown field', [{ dest: '10.7.0.0/16' }], 'routes[0].dest: unknown field; did you mean dst?'],
  ['a route as text', ['10.7.0.0/16'], 'routes[0]: expected an object, found "10.7.0.0/16"'],
])('%s is refused', (_, routes, message) => {
  expect(() => decodeRoutes(subnet, routes, 'routes')).toThrow(
    expect.objectContaining({ reason: 'bad-input', message }),
  );
});
