import { expect, test } from 'vitest';
import type { PoolSummary } from '#pkg/agentapi/admin.ts';
import { renderPools } from './render-pools.ts';

const v4: PoolSummary = {
  name: 'v4',
  family: 4,
  subnet: '10.0.0.0/24',
  domain: 'default',
  total: '200',
  used: '50',
  free: '140',
  reserved: '10',
  isDefault: true,
  isDisabled: false,
};
const v6: PoolSummary = {
  ...v4,
  name: 'lab-v6',
  family: 6,
  subnet: 'fd00::/64',
  total: '18446744073709551616',
  used: '3',
  free: '18446744073709551613',
  reserved: '0',
  isDefault: false,
  isDisabled: true,
};

test('pools are one table, counts beyond reading as powers of two', () => {
  expect(renderPools({ pools: [v4, v6], problems: [] })).toBe(
    [
      'NAME    SUBNET       USED  TOTAL  FREE    RESERVED  DOMAIN   FLAGS     USAGE',
      'v4      10.0.0.0/24  50    200    140     10        default  default   [#####---------------] 26%',
      'lab-v6  fd00::/64    3     2^64   2^64-3  0         default  disabled  [#-------------------] <1%',
      '',
    ].join('\n'),
  );
});

test('problems follow the table', () => {
  const text = renderPools({ pools: [], problems: ['bad.yaml: subnet is missing'] });
  expect(text).toBe('No pools.\n\nproblem: bad.yaml: subnet is missing\n');
});
