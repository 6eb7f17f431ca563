import { POOL_KINDS, RECORD_STATES, TIMED_STATES } from '#pkg/record/ip-record.ts';
import { customResource } from './custom-resource.ts';
import { canonicalAddress, DNS_LABEL, DNS_SUBDOMAIN, ROUTE_OF_RECORD } from './network-text.ts';
import { ASCII, HOLDER } from './record-holder-schema.ts';
import { integer, listOf, object, type Rule, rules, text } from './schema.ts';

/** The times that the decoder accepts. The format `date-time` alone also accepts offsets of a day and longer. */
const RFC_3339 =
  '^\\d{4}-\\d\\d-\\d\\dT([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$';
/** 39 characters of a full IPv6 address, a dot, a DNS label. */
const LONGEST_RECORD_NAME = 39 + 1 + 63;

const NEVER_CHANGES = { rule: 'self == oldSelf', message: 'never changes: another address is another record' };

const LONGEST_POOL_NAME = 63 + 1 + 253;

const pool = object(
  {
    kind: text(32, { enum: POOL_KINDS, description: 'The kind of the pool.' }),
    name: text(LONGEST_POOL_NAME, {
      minLength: 1,
      description: 'The name of a SpiderIPPool; of a NetworkNamespace its namespace, a slash and its name.',
      pattern: `^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?${DNS_SUBDOMAIN.slice(1)}`,
    }),
    uid: text(128, { ...ASCII, description: 'The uid that the pool had when the address was taken.' }),
  },
  ['kind', 'name', 'uid'],
  {
    description: 'The pool that the address was taken from.',
    ...rules({
      rule: "self.kind == 'NetworkNamespace' ? self.name.contains('/') : !self.name.contains('/') && size(self.name) <= 253",
      message: 'is namespace/name for a NetworkNamespace, and a plain name otherwise',
      fieldPath: '.name',
    }),
  },
);

const RESTS = `self.state in [${TIMED_STATES.map((state) => `'${state}'`).join(', ')}]`;
const isOfFamily = (value: string) => `${value}.contains(':') == self.address.contains(':')`;

const SPEC_RULES: readonly Rule[] = [
  {
    rule: `has(self.until) == (${RESTS})`,
    message: 'goes with the states Cooling and Quarantined, and with no other',
    fieldPath: '.until',
  },
  {
    rule: `!(${RESTS}) || !has(self.holder.uid) && !has(self.holder.containerID)`,
    message: 'has no uid and no containerID while the record is Cooling or Quarantined',
    fieldPath: '.holder',
  },
  {
    rule: "self.holder.kind != 'Conflict' || self.state == 'Quarantined'",
    message: 'a foreign host holds nothing but a Quarantined record',
    fieldPath: '.holder',
  },
  {
    rule: "self.prefix <= (self.address.contains(':') ? 128 : 32)",
    message: 'is longer than an address of this family',
    fieldPath: '.prefix',
  },
  {
    rule: `!has(self.gateway) || ${isOfFamily('self.gateway')}`,
    message: 'is not of the family of the address',
    fieldPath: '.gateway',
  },
  {
    rule: `!has(self.routes) || self.routes.all(route, ${isOfFamily('route.dst')} && ${isOfFamily('route.gw')})`,
    message: 'are not of the family of the address',
    fieldPath: '.routes',
  },
];

const spec = object(
  {
    address: text(39, {
      description: 'The address in canonical text, RFC 5952 for IPv6. Never changes.',
      ...rules(canonicalAddress, NEVER_CHANGES),
    }),
    prefix: integer(0, 128, { format: 'int32', description: 'The prefix length of the subnet.' }),
    gateway: text(39, { description: 'The default route that the holder got.', ...rules(canonicalAddress) }),
    domain: text(63, {
      description:
        'An address space of its own, in which the same addresses may repeat; `default` unless the pool sets it. Never changes.',
      pattern: DNS_LABEL,
      ...rules(NEVER_CHANGES),
    }),
    pool,
    state: text(16, {
      enum: RECORD_STATES,
      description:
        'Allocated: in use. Retained: waits for the next pod of its sticky holder. Suspect: its holder is probably gone. Cooling: rests before reuse. Quarantined: a foreign host answers on it.',
    }),
    until: text(64, {
      format: 'date-time',
      pattern: RFC_3339,
      description: 'When Cooling or Quarantined ends.',
    }),
    holder: HOLDER,
    routes: listOf(ROUTE_OF_RECORD, { description: 'Further routes that the holder got with the address.' }),
    cleanGateway: { type: 'boolean', description: 'No default route is set for the interface.' },
  },
  ['address', 'prefix', 'domain', 'pool', 'state', 'holder'],
  {
    description: 'The address, who has it, and how it is used.',
    // Every writer of a record writes the whole spec. As one field the spec has half of the managedFields, a fifth of the object.
    'x-kubernetes-map-type': 'atomic',
    ...rules(...SPEC_RULES),
  },
);

/**
 * A unique name makes the address unique only if each address has one name. CEL cannot write out an IPv6 address in full. So the
 * name must match the long pattern *and* have the value of the address: the pattern alone allows any address, the value alone any
 * spelling.
 */
const NAME_IS_ADDRESS: Rule = {
  rule: `
isIP(self.spec.address) && (self.spec.address.contains(':')
  ? self.metadata.name.matches('^[0-9a-f]{4}(-[0-9a-f]{4}){7}([.]|$)')
    && ip(self.metadata.name.substring(0, 39).replace('-', ':')) == ip(self.spec.address)
    && self.metadata.name.substring(39) == (self.spec.domain == 'default' ? '' : '.' + self.spec.domain)
  : self.metadata.name == self.spec.address + (self.spec.domain == 'default' ? '' : '.' + self.spec.domain))
`.trim(),
  message:
    'metadata.name must be the address: IPv4 as it is written, IPv6 as eight groups of four digits joined by hyphens; in a domain other than default followed by a dot and the domain',
};

export const IP_RECORD_CRD = customResource({
  group: 'ipledger.io',
  version: 'v1alpha1',
  kind: 'IPRecord',
  plural: 'iprecords',
  shortName: 'ipr',
  categories: ['ipledger'],
  scope: 'Cluster',
  hasStatusSubresource: false,
  // A printer column shows one value, so namespace and name of the holder have a column each.
  columns: [
    ['ADDRESS', 'string', '.spec.address'],
    ['POOL', 'string', '.spec.pool.name'],
    ['STATE', 'string', '.spec.state'],
    ['NAMESPACE', 'string', '.spec.holder.namespace'],
    ['HOLDER', 'string', '.spec.holder.name'],
    ['INTERFACE', 'string', '.spec.holder.interface'],
    ['NODE', 'string', '.spec.holder.node'],
    ['AGE', 'date', '.metadata.creationTimestamp'],
  ],
  selectable: ['.spec.pool.name', '.spec.state', '.spec.holder.namespace', '.spec.holder.name', '.spec.holder.node'],
  schema: object(
    {
      metadata: object({ name: text(LONGEST_RECORD_NAME) }, []),
      spec,
    },
    ['spec'],
    { description: 'An address in use. Its name is the address.', ...rules(NAME_IS_ADDRESS) },
  ),
});
