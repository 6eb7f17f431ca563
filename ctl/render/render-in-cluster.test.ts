import { expect, test } from 'vitest';
import type { InClusterImport } from '#pkg/adopt/in-cluster.ts';
import { buildClaimRecord } from '#test/support/build-claim.ts';
import { renderInCluster } from './render-in-cluster.ts';

const IMPORT: InClusterImport = {
  dryRun: false,
  pool: { name: 'prod.lab', ranges: ['10.0.0.4-10.0.0.9'], wasThere: false, leftOutGateway: null },
  records: [buildClaimRecord('10.0.0.5').spec],
  collisions: ['10.0.0.6 of prod/vm-1 is held by Pod dev/web-0'],
};

test('an import says what was made, and what is left to re-point by hand, with the name of the new pool', () => {
  expect(renderInCluster(IMPORT).split('\n')).toEqual([
    'SpiderIPPool prod.lab made, disabled: 10.0.0.4-10.0.0.9',
    'Records made: 1.',
    '  10.0.0.5  prod/vm-0',
    'collision: 10.0.0.6 of prod/vm-1 is held by Pod dev/web-0',
    '',
    'Next, by hand:',
    '1. Let the in-cluster pool give out nothing new, for example with all free addresses in its excludedAddresses, and import again.',
    `2. kubectl patch spiderippool prod.lab --type=merge -p '{"spec":{"disable":false}}'`,
    '3. In the machine templates replace the reference to the old pool by',
    '     { apiGroup: spiderpool.spidernet.io, kind: SpiderIPPool, name: prod.lab }',
    '   and roll the machines out. The claims above keep their addresses until their machines are replaced.',
    '4. `ipledgerctl check` then lists the records whose claims are gone; `ipledgerctl release ADDRESS` ends each.',
    '',
  ]);
});

test('a dry run says what would be made, and a pool that is there is not made again', () => {
  const [first, second] = renderInCluster({ ...IMPORT, dryRun: true }).split('\n');
  expect([first, second]).toEqual([
    'SpiderIPPool prod.lab would be made, disabled: 10.0.0.4-10.0.0.9',
    'Records would be made: 1.',
  ]);
  const repeated = renderInCluster({ ...IMPORT, pool: { ...IMPORT.pool, wasThere: true } });
  expect(repeated).toContain('SpiderIPPool prod.lab is there already');
});

test('a gateway that was left out is said, and what to do about it', () => {
  const text = renderInCluster({ ...IMPORT, pool: { ...IMPORT.pool, leftOutGateway: '192.0.2.1' } });
  expect(text).toContain('warning: the gateway 192.0.2.1 of the old pool is outside of its subnet and was left out');
});

test('of many records the first are shown, and how many more there are', () => {
  const records = Array.from({ length: 25 }, (_, at) => buildClaimRecord(`10.0.0.${at + 1}`).spec);
  expect(renderInCluster({ ...IMPORT, records })).toContain('  10.0.0.20  prod/vm-0\n… and 5 more\n');
});
