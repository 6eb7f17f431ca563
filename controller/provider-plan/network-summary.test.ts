import { expect, test } from 'vitest';
import { planSummary } from './network-summary.ts';

const BLOCK = {
  provider: 'static-ip-operator',
  prefix: '10.0.2.0/24',
  vlanId: 100,
  isPrefixManual: false,
  isVlanManual: false,
};
const held = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ ip: `10.0.2.${at + 2}`, networkConfiguration: `vm-${at}` }));
const FIFTEEN = { held: held(15), available: 235n };

test('the counts of the published example', () => {
  expect(planSummary(FIFTEEN, BLOCK, {}, 'ipAllocationSummary')).toEqual({
    ipAllocationSummary: {
      type: 'static',
      provider: 'static-ip-operator',
      allocatedCount: 15,
      availableCount: 235,
      totalCount: 250,
    },
    ipv4Prefix: '10.0.2.0/24',
    vlanId: 100,
  });
});

test('the older version lists the addresses and whose they are', () => {
  const status = planSummary({ held: held(2), available: 0n }, BLOCK, {}, 'ipAllocationStatus');
  expect(status).toMatchObject({
    ipAllocationStatus: { totalCount: 2, allocatedIPs: [{ ip: '10.0.2.2', networkConfiguration: 'vm-0' }, {}] },
  });
});

const WRITTEN = planSummary(FIFTEEN, BLOCK, {}, 'ipAllocationSummary') ?? {};
const EMPTY = { held: [], available: 0n };

test.each<{
  name: string;
  tally?: typeof FIFTEEN;
  block?: object;
  before: Record<string, unknown>;
  writes: object | null;
}>([
  { name: 'all of it is there', before: { ...WRITTEN, phase: 'Ready' }, writes: null },
  { name: 'somebody wiped it', before: { phase: 'Ready' }, writes: { vlanId: 100 } },
  {
    name: 'the older types leave out what is zero',
    tally: EMPTY,
    before: { ...WRITTEN, ipAllocationSummary: { type: 'static', provider: 'static-ip-operator' } },
    writes: null,
  },
  { name: 'it is no map', before: { ...WRITTEN, ipAllocationSummary: 'soon' }, writes: {} },
  {
    name: 'the prefix is an old one',
    before: { ...WRITTEN, ipv4Prefix: '10.0.3.0/24' },
    writes: { ipv4Prefix: '10.0.2.0/24' },
  },
  {
    name: 'another operator names the prefix and the VLAN itself',
    block: { isPrefixManual: true, isVlanManual: true },
    before: { ...WRITTEN, ipv4Prefix: '10.0.0.0/16', vlanId: 7 },
    writes: null,
  },
  {
    name: 'another operator is to name them, and has not yet',
    block: { isPrefixManual: true, isVlanManual: true },
    before: { ...WRITTEN, ipv4Prefix: '', vlanId: 0 },
    writes: { ipv4Prefix: '10.0.2.0/24', vlanId: 100 },
  },
  { name: 'the block names no VLAN', block: { vlanId: null }, before: { ...WRITTEN, vlanId: 7 }, writes: null },
])('$name', ({ tally = FIFTEEN, block = {}, before, writes }) => {
  const planned = planSummary(tally, { ...BLOCK, ...block }, before, 'ipAllocationSummary');
  if (writes === null) expect(planned).toBeNull();
  else expect(planned).toMatchObject(writes);
});

test('counts saturate where the types end', () => {
  const planned = planSummary({ held: held(1), available: 2n ** 40n }, BLOCK, {}, 'ipAllocationSummary');
  expect(planned).toMatchObject({ ipAllocationSummary: { availableCount: 2 ** 31 - 1, totalCount: 2 ** 31 - 1 } });
});
