import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const KNOWN = ['ips', 'excludeIPs', 'gateway', 'nodeName', 'default'];

test.each([
  ['one letter too many', 'ipss', 'ips'],
  ['one letter missing', 'gatway', 'gateway'],
  ['one letter wrong', 'gatewaz', 'gateway'],
  ['two letters swapped', 'gaetway', 'gateway'],
  ['another case', 'EXCLUDEIPS', 'excludeIPs'],
  ['a plural', 'nodeNames', 'nodeName'],
  ['the nearest of two', 'ip', 'ips'],
  ['nothing near', 'colour', null],
  ['too short to guess', 'x', null],
  ['too long to guess', 'gateway'.padEnd(41, 'y'), null],
])('%s', (_, typed, expected) => {
  expect(nearestName(typed, KNOWN)).toBe(expected);
});
