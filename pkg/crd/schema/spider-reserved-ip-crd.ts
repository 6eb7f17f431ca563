import { TAKEN_BY_MOVE } from './move-labels.ts';
import { IP_VERSION } from './network-spec.ts';
import { ADDRESS_RANGE } from './network-text.ts';
import { listOf, object, rules } from './schema.ts';
import { spiderpoolKind } from './spiderpool-kind.ts';

const familyOf = (spec: string) =>
  `(has(${spec}.ipVersion) ? ${spec}.ipVersion : ${spec}.ips[0].contains(':') ? 6 : 4)`;
const isKnown = (spec: string) => `(has(${spec}.ipVersion) || has(${spec}.ips) && size(${spec}.ips) > 0)`;

const spec = object(
  { ipVersion: IP_VERSION, ips: listOf(ADDRESS_RANGE, { description: 'Addresses or ranges first-last.' }) },
  [],
  {
    description: 'The reserved addresses.',
    ...rules(
      { rule: isKnown('self'), message: 'must not be empty while ipVersion is not set', fieldPath: '.ips' },
      {
        rule: `!${isKnown('self')} || !has(self.ips) || self.ips.all(item, item.contains(':') == (${familyOf('self')} == 6))`,
        message: 'has an address of the other family',
        fieldPath: '.ips',
      },
      {
        rule: `!${isKnown('self')} || !${isKnown('oldSelf')} || ${familyOf('self')} == ${familyOf('oldSelf')}`,
        message: 'never changes',
        fieldPath: '.ipVersion',
      },
    ),
  },
);

export const SPIDER_RESERVED_IP_CRD = spiderpoolKind({
  kind: 'SpiderReservedIP',
  plural: 'spiderreservedips',
  shortName: 'sr',
  scope: 'Cluster',
  hasStatusSubresource: false,
  labels: TAKEN_BY_MOVE,
  columns: [['VERSION', 'string', '.spec.ipVersion']],
  schema: object({ spec }, ['spec'], { description: 'Addresses that no pool gives out, whatever it lists.' }),
});
