import { expect, test } from 'vitest';
import { buildRequest } from '#test/support/build-pool.ts';
import { isPattern, mayAskForPatterns, parseNamespacePools } from './asked-pools.ts';

const NEW4 = 'ipam.spidernet.io/default-ipv4-ippool';
const NEW6 = 'ipam.spidernet.io/default-ipv6-ippool';
const OLD4 = 'ipam.spidernet.io/defaultv4ippool';
const OLD6 = 'ipam.spidernet.io/defaultv6ippool';

const nothing4 = { from: `namespace annotation ${NEW4}`, names: [], fault: 'bad-annotation' };
const nothing6 = { from: `namespace annotation ${NEW6}`, names: [], fault: 'bad-annotation' };

test.each([
  { name: 'no annotation', annotations: {}, expected: { v4: nothing4, v6: nothing6, warnings: [] } },
  {
    name: 'both families, newer spelling',
    annotations: { [NEW4]: '["a","b*"]', [NEW6]: '["c"]' },
    expected: {
      v4: { from: `namespace annotation ${NEW4}`, names: ['a', 'b*'], fault: 'bad-annotation' },
      v6: { from: `namespace annotation ${NEW6}`, names: ['c'], fault: 'bad-annotation' },
      warnings: [],
    },
  },
  {
    name: 'both families, older spelling',
    annotations: { [OLD4]: '["a"]', [OLD6]: '["c"]' },
    expected: {
      v4: { from: `namespace annotation ${OLD4}`, names: ['a'], fault: 'bad-annotation' },
      v6: { from: `namespace annotation ${OLD6}`, names: ['c'], fault: 'bad-annotation' },
      warnings: [],
    },
  },
  {
    name: 'the newer spelling wins, even over a broken older one',
    annotations: { [NEW4]: '["new"]', [OLD4]: 'broken' },
    expected: {
      v4: { from: `namespace annotation ${NEW4}`, names: ['new'], fault: 'bad-annotation' },
      v6: nothing6,
      warnings: [`annotation ${OLD4} is ignored: ${NEW4} is there too`],
    },
  },
  {
    name: 'an empty newer list wins too',
    annotations: { [NEW6]: '[]', [OLD6]: '["old"]' },
    expected: { v4: nothing4, v6: nothing6, warnings: [`annotation ${OLD6} is ignored: ${NEW6} is there too`] },
  },
])('$name', ({ annotations, expected }) => {
  expect(parseNamespacePools(annotations)).toEqual(expected);
});

test.each([
  {
    name: 'a bare name is not JSON',
    annotations: { [NEW4]: 'pool-a' },
    message: `annotation ${NEW4}: bad JSON: Unexpected token 'p', "pool-a" is not valid JSON`,
  },
  {
    name: 'a string is not a list',
    annotations: { [NEW6]: '"pool-a"' },
    message: `annotation ${NEW6}: the value must be a list, is a string`,
  },
  {
    name: 'the older key is named when it is the one at fault',
    annotations: { [OLD4]: '[1]' },
    message: `annotation ${OLD4}: the value[0] must be a string, is a number`,
  },
])('refused: $name', ({ annotations, message }) => {
  expect(() => parseNamespacePools(annotations)).toThrow(
    expect.objectContaining({ reason: 'bad-annotation', message }),
  );
});

test.each([
  { pattern: 'pool-a', expected: false },
  { pattern: 'pool-*', expected: true },
  { pattern: 'pool-?', expected: true },
  { pattern: 'pool-[ab]', expected: true },
  { pattern: 'pool-[ab', expected: false },
  { pattern: 'pool-ab]', expected: false },
  { pattern: 'pool\\a', expected: false },
])('$pattern is a pattern: $expected', ({ pattern, expected }) => {
  expect(isPattern(pattern)).toBe(expected);
});

test.each([
  { name: 'no name', request: {}, expected: false },
  { name: 'a plain name', request: { cniConfig: { ipv4: ['a-1'] } }, expected: false },
  { name: 'the CNI configuration', request: { cniConfig: { ipv6: ['a-*'] } }, expected: true },
  {
    name: 'the pod',
    request: { pod: { annotations: { 'ipam.spidernet.io/ippool': '{"ipv4":["a-?"]}' } } },
    expected: true,
  },
  { name: 'the namespace', request: { namespace: { annotations: { [OLD4]: '["[ab]"]' } } }, expected: true },
])('whether a call may ask for patterns: $name', ({ request, expected }) => {
  expect(mayAskForPatterns(buildRequest(request))).toBe(expected);
});
