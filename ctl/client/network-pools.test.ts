import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { describeSharedRanges } from './network-pools.ts';

const network = (name: string, ips: string, domain = 'default') => buildPool({ name, ips: [ips], domain });
const PODS = buildPool({ name: 'pods', ips: ['10.0.0.50-10.0.0.60'] });

test('a NetworkNamespace that shares addresses with a pool of pods, or with another one, is named once', () => {
  const networks = [network('a/one', '10.0.0.55-10.0.0.70'), network('b/two', '10.0.0.70-10.0.0.80')];
  expect(describeSharedRanges(networks, [PODS])).toEqual([
    'pool a/one and pool pods both hold 10.0.0.55-10.0.0.60',
    'pool a/one and pool b/two both hold 10.0.0.70',
  ]);
});

test('equal numbers of two domains are no overlap', () => {
  expect(describeSharedRanges([network('a/one', '10.0.0.55-10.0.0.70', 'blue')], [PODS])).toEqual([]);
});
