import { expect, test } from 'vitest';
import { formatAddress } from '#pkg/ip/address.ts';
import { buildAllocationRecord, observeAllocation } from '#test/support/build-allocation.ts';
import { nameHolders } from './name-holders.ts';

const factsOf = (block: object, reserved?: string) =>
  observeAllocation({ network: { block }, ...(reserved === undefined ? {} : { reserved }) }).facts;
const holders = (facts: ReturnType<typeof factsOf>, total: bigint, taken: readonly string[]) =>
  nameHolders(facts, total, (address) => {
    const text = formatAddress(address);
    return taken.includes(text) ? buildAllocationRecord(text, { name: `of-${text}` }) : null;
  });

test.each([
  {
    name: 'one address',
    total: 1n,
    block: { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.50' },
    says: '10.0.2.50 by IPAllocation datacenter-01/of-10.0.2.50',
  },
  {
    name: 'an address that is reserved is not named',
    total: 3n,
    block: { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.53' },
    reserved: '10.0.2.52',
    says: '10.0.2.50 by IPAllocation datacenter-01/of-10.0.2.50, 10.0.2.51 by IPAllocation datacenter-01/of-10.0.2.51',
  },
  { name: 'four are too many', total: 4n, block: { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.53' }, says: '' },
])('$name', ({ total, block, reserved, says }) => {
  expect(holders(factsOf(block, reserved), total, ['10.0.2.50', '10.0.2.51'])).toBe(says);
});

test('a pool that cannot be read has nobody', () => {
  expect(nameHolders(null, 0n, () => null)).toBe('');
});
