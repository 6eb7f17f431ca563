import { NETWORK_COLUMNS, NETWORK_PROPERTIES, NETWORK_RULES } from './network-spec.ts';
import { object, rules } from './schema.ts';
import { spiderpoolKind } from './spiderpool-kind.ts';
import { CONDITIONS, COUNT, VLAN } from './status-schema.ts';

const status = object(
  {
    controlledIPPools: { type: 'string', description: 'JSON: pool to what it was given; absent while there is none.' },
    allocatedIPCount: COUNT,
    totalIPCount: COUNT,
    conditions: CONDITIONS,
  },
  [],
);

export const SPIDER_SUBNET_CRD = spiderpoolKind({
  kind: 'SpiderSubnet',
  plural: 'spidersubnets',
  shortName: 'ss',
  scope: 'Cluster',
  hasStatusSubresource: true,
  columns: NETWORK_COLUMNS,
  schema: object(
    { spec: object({ ...NETWORK_PROPERTIES, vlan: VLAN }, ['subnet'], rules(...NETWORK_RULES)), status },
    ['spec'],
    { description: 'A network whose addresses are handed to pools.' },
  ),
});
