import { labelSelector } from './label-selector-schema.ts';
import { SEEN_BY_MOVE } from './move-labels.ts';
import { NETWORK_COLUMNS, NETWORK_PROPERTIES, NETWORK_RULES, READY } from './network-spec.ts';
import { listOf, object, rules, type Schema, text } from './schema.ts';
import { spiderpoolKind } from './spiderpool-kind.ts';
import { CONDITIONS, countOf } from './status-schema.ts';

const LONGEST_NAME = 63 + 1 + 253;
const names = (description: string) => listOf(text(LONGEST_NAME, { minLength: 1 }), { description });
const OFF: Schema = { type: 'boolean', default: false };

const spec = object(
  {
    ...NETWORK_PROPERTIES,
    podAffinity: labelSelector('Which pods may use the pool.', {
      rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)',
      message: 'must not be empty; leave it out to admit every pod',
    }),
    namespaceAffinity: labelSelector('Which namespaces may use the pool; ignored where namespaceName is set.'),
    namespaceName: names('Names of the namespaces that may use the pool.'),
    nodeAffinity: labelSelector('Which nodes may use the pool; ignored where nodeName is set.'),
    nodeName: names('Names of the nodes that may use the pool.'),
    multusName: names('Networks that may use the pool: namespace/name or name.'),
    default: { ...OFF, description: 'Serves requests that name no pool.' },
    disable: { ...OFF, description: 'Gives out nothing new; releases still work.' },
  },
  ['subnet'],
  { description: 'The addresses of the pool, and who may use them.', ...rules(...NETWORK_RULES) },
);

const status = object(
  {
    allocatedIPs: {
      type: 'string',
      description: 'JSON from address to pod. Absent while nothing is allocated, and beyond 5,000 entries.',
    },
    allocatedIPCount: countOf('How many addresses are held: Allocated, Retained or Suspect.'),
    totalIPCount: countOf('How many addresses the pool has: ips without excludeIPs.'),
    freeIPCount: countOf('How many addresses can be given out now: neither reserved nor in a record.'),
    conditions: CONDITIONS,
  },
  [],
  { description: 'Computed from the records for people to read; no decision depends on it.' },
);

export const SPIDER_IP_POOL_CRD = spiderpoolKind({
  kind: 'SpiderIPPool',
  plural: 'spiderippools',
  shortName: 'sp',
  scope: 'Cluster',
  hasStatusSubresource: true,
  labels: SEEN_BY_MOVE,
  columns: [
    ...NETWORK_COLUMNS,
    ['DEFAULT', 'boolean', '.spec.default'],
    ['FREE', 'integer', '.status.freeIPCount'],
    ['READY', 'string', READY],
    ['DISABLE', 'boolean', '.spec.disable', 'wide'],
    ['NodeName', 'string', '.spec.nodeName', 'wide'],
    ['MultusName', 'string', '.spec.multusName', 'wide'],
    ['APP-NAMESPACE', 'string', ".spec.podAffinity.matchLabels['ipam\\.spidernet\\.io/app\\-namespace']", 'wide'],
  ],
  schema: object({ spec, status }, ['spec'], {
    description: 'A subnet and the addresses of it that may be given out.',
  }),
});
