import { SEEN_BY_MOVE } from './move-labels.ts';
import { NETWORK_COLUMNS, NETWORK_PROPERTIES, NETWORK_RULES, READY } from './network-spec.ts';
import { object, rules } from './schema.ts';
import { spiderpoolKind } from './spiderpool-kind.ts';
import { CONDITIONS, countOf, VLAN } from './status-schema.ts';

const spec = object({ ...NETWORK_PROPERTIES, vlan: VLAN }, ['subnet'], {
  description: 'The addresses that pools may be made of.',
  ...rules(...NETWORK_RULES),
});

const status = object(
  {
    controlledIPPools: {
      type: 'string',
      description: 'JSON from pool to the ranges it has. Absent while there is none.',
    },
    allocatedIPCount: countOf('How many addresses the pools of the subnet have.'),
    freeIPCount: countOf('How many addresses of the subnet no pool has.'),
    totalIPCount: countOf('How many addresses the subnet has: ips without excludeIPs.'),
    conditions: CONDITIONS,
  },
  [],
  { description: 'Computed from the pools for people to read; no decision depends on it.' },
);

export const SPIDER_SUBNET_CRD = spiderpoolKind({
  kind: 'SpiderSubnet',
  plural: 'spidersubnets',
  shortName: 'ss',
  scope: 'Cluster',
  hasStatusSubresource: true,
  labels: SEEN_BY_MOVE,
  columns: [...NETWORK_COLUMNS, ['FREE', 'integer', '.status.freeIPCount'], ['READY', 'string', READY]],
  schema: object({ spec, status }, ['spec'], { description: 'A network whose addresses are handed to pools.' }),
});
