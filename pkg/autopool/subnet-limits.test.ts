import { expect, test } from 'vitest';
import { decodeSubnetLimits, isNamespaceAllowed } from './subnet-limits.ts';

const ALLOWED = 'ipledger.io/allowed-namespaces';
const MOST = 'ipledger.io/max-ips-per-namespace';

test('a subnet without limits is open to all', () => {
  const limits = decodeSubnetLimits({});
  expect(limits).toEqual({ allowedNamespaces: null, mostPerNamespace: null });
  expect(isNamespaceAllowed(limits, 'any')).toBe(true);
});

test('namespaces are named, or matched by a pattern', () => {
  const limits = decodeSubnetLimits({ [ALLOWED]: '["prod", "team-*"]', [MOST]: '100' });
  expect(limits.mostPerNamespace).toBe(100);
  expect(['prod', 'team-a', 'test', 'prod2'].map((it) => isNamespaceAllowed(limits, it))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('an empty list is open to nobody', () => {
  expect(isNamespaceAllowed(decodeSubnetLimits({ [ALLOWED]: '[]' }), 'prod')).toBe(false);
});

test.each([
  { annotations: { [ALLOWED]: 'prod' }, says: 'expected a list such as ["team-a", "team-b-*"], found "prod"' },
  { annotations: { [ALLOWED]: '"prod"' }, says: 'the list: expected a list, found "prod"' },
  { annotations: { [ALLOWED]: '[""]' }, says: 'the list[0]: must not be empty' },
  { annotations: { [ALLOWED]: '["[a"]' }, says: '"[a"' },
  { annotations: { [ALLOWED]: JSON.stringify(Array(101).fill('a')) }, says: 'at most 100 are allowed' },
  { annotations: { [MOST]: '-1' }, says: 'expected a number of addresses such as "100", found "-1"' },
  { annotations: { [MOST]: '' }, says: 'found ""' },
])('refused: $says', ({ annotations, says }) => {
  expect(() => decodeSubnetLimits(annotations)).toThrow(says);
  expect(() => decodeSubnetLimits(annotations)).toThrow(/^metadata\.annotations\["ipledger\.io\//);
});
