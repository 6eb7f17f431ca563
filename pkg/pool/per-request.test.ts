import { expect, test, vi } from 'vitest';
import { buildRequest } from '#test/support/build-pool.ts';
import { findCandidates } from './candidates.ts';

const OPTIONS = { enableIPv4: true, enableIPv6: true, enableSubnets: true, enableAutoPools: true };
const APPLICATION = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web', uid: 'u' };

test.each([
  { name: 'of a subnet', key: 'ipam.spidernet.io/subnet', text: '{"ipv4":["office"]}' },
  { name: 'of subnets', key: 'ipam.spidernet.io/subnets', text: '[{"interface":"eth0","ipv4":["office"]}]' },
  { name: 'of pools', key: 'ipam.spidernet.io/ippool', text: '{"ipv4":["*"]}' },
  { name: 'that cannot be read', key: 'ipam.spidernet.io/ippools', text: '{"ipv4":' },
])('the annotation $name is parsed once for a call, however often it looks at the pools', ({ key, text }) => {
  using parse = vi.spyOn(JSON, 'parse');
  const request = buildRequest({ pod: { annotations: { [key]: text } }, controller: APPLICATION });
  const found = Array.from({ length: 3 }, () => outcomeOf(() => findCandidates(request, [], OPTIONS)));
  expect(found[2]).toEqual(found[0]);
  expect(parse.mock.calls.filter(([parsed]) => parsed === text)).toHaveLength(1);
});

function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    return String(thrown);
  }
}
