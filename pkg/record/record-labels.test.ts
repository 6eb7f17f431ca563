import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { holderKey } from './holder-key.ts';
import { holderLabel, recordLabels, toLabelValue } from './record-labels.ts';

test('a record is labelled with its pool, node, state and holder', () => {
  const { spec } = buildRecord({ state: 'Retained', holder: { kind: 'Pod', namespace: 'prod', name: 'web-0' } });
  expect(recordLabels(spec)).toEqual({
    'ipledger.io/pool': 'v4',
    'ipledger.io/node': 'host-1',
    'ipledger.io/state': 'Retained',
    'ipledger.io/holder': holderLabel('Pod/prod/web-0/eth0/4'),
  });
});

test('the family is part of the key', () => {
  const { spec } = buildRecord({ address: 'fd00::5' });
  expect(recordLabels(spec)['ipledger.io/holder']).toBe(holderLabel(holderKey(spec.holder, 6)));
});

test('a record without a node has no label for one', () => {
  expect(recordLabels(buildRecord({ holder: { node: '' } }).spec)).not.toHaveProperty('ipledger.io/node');
});

const HASH = /^[0-9a-f]{32}$/;

test.each([
  { name: 'a plain name', value: 'pool-a', expected: 'pool-a' },
  { name: 'dots', value: 'worker-1.example.org', expected: 'worker-1.example.org' },
  { name: '63 characters', value: 'a'.repeat(63), expected: 'a'.repeat(63) },
  { name: '64 characters', value: 'a'.repeat(64), expected: expect.stringMatching(HASH) },
  { name: 'what no label may hold', value: 'host_', expected: expect.stringMatching(HASH) },
  { name: 'a line end', value: 'host\n', expected: expect.stringMatching(HASH) },
])('$name', ({ value, expected }) => {
  expect(toLabelValue(value)).toEqual(expected);
});

// The published vectors of FNV-1a with 128 bits: a change of the hash would lose every stored record.
test.each([
  ['', '6c62272e07bb014262b821756295c58d'],
  ['a', 'd228cb696f1a8caf78912b704e4a8964'],
  ['ab', '08809544bbab1be95aa0733055b69a62'],
  ['abc', 'a68d622cec8b5822836dbc7977af7f3b'],
])('the hash of "%s" never changes', (key, expected) => {
  expect(holderLabel(key)).toBe(expected);
});

test('keys that differ in one place differ', () => {
  const keys = Array.from({ length: 10_000 }, (_, n) => `Pod/prod/web-${n}/eth0/4`);
  expect(new Set(keys.map(holderLabel)).size).toBe(keys.length);
});
