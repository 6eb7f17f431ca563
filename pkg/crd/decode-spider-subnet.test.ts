import { expect, test } from 'vitest';
import { decodeSpiderSubnet } from './decode-spider-subnet.ts';

const subnet = (spec: object, metadata: object = {}) => ({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderSubnet',
  metadata: { name: 's', ...metadata },
  spec: { subnet: '10.6.0.0/16', ...spec },
});

test('addresses are ips less excludeIPs', () => {
  const found = decodeSpiderSubnet(
    subnet(
      { ips: ['10.6.0.1-10.6.0.9'], excludeIPs: ['10.6.0.5'], gateway: '10.6.0.1', vlan: 0 },
      { annotations: { 'ipledger.io/domain': 'blue' } },
    ),
  );
  expect(found).toMatchObject({ name: 's', family: 4, domain: 'blue', isTerminating: false });
  expect(found.addresses.size).toBe(8n);
});

test.each([
  { spec: { subnet: '10.6.0.1/16' }, says: 'spec.subnet: 10.6.0.1/16 has host bits set' },
  { spec: { ipVersion: 6 }, says: 'spec.ipVersion: 6 does not agree with the subnet' },
  { spec: { ips: ['10.6.0.9-10.6.0.1'] }, says: 'spec.ips[0]: 10.6.0.9-10.6.0.1 is reversed' },
  { spec: { ips: ['10.7.0.1'] }, says: 'spec.ips[0]: 10.7.0.1 is not in the subnet' },
  { spec: { ips: ['10.6.0.1', '10.6.0.1'] }, says: 'spec.ips[1]: 10.6.0.1 overlaps' },
  { spec: { gateway: '10.7.0.1' }, says: 'spec.gateway: 10.7.0.1 is not in the subnet' },
  { spec: { ip: [] }, says: 'spec.ip: unknown field' },
])('refused: $says', ({ spec, says }) => {
  expect(() => decodeSpiderSubnet(subnet(spec))).toThrow(says);
});
