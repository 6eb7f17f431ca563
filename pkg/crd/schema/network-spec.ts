import type { Column } from './custom-resource.ts';
import { ADDRESS_RANGE, firstOf, lastOf, ROUTE_OF_POOL } from './network-text.ts';
import { listOf, type Rule, rules, type Schema, text } from './schema.ts';

export const IP_VERSION: Schema = {
  type: 'integer',
  format: 'int64',
  enum: [4, 6],
  description: 'The address family. It follows from the addresses.',
};

const SUBNET = text(43, {
  description: 'The network in canonical CIDR form, e.g. 10.6.0.0/16. Never changes.',
  ...rules(
    {
      rule: 'isCIDR(self) && string(cidr(self).masked()) == self',
      message: 'is not a network in canonical CIDR form such as 10.6.0.0/16',
    },
    {
      // CEL cannot parse mapped addresses. A network that contains the neighbour ::fffe:0:0 and is larger than /96 contains ::ffff:0:0/96.
      rule: "!isCIDR(self) || !self.contains(':') || cidr(self).prefixLength() > 95 || !cidr(self).containsIP('::fffe:0:0')",
      message: 'covers IPv4-mapped addresses (::ffff:0:0/96)',
    },
    { rule: 'self == oldSelf', message: 'never changes' },
  ),
});

/** The fields that pools and subnets share. */
export const NETWORK_PROPERTIES: Readonly<Record<string, Schema>> = {
  ipVersion: IP_VERSION,
  subnet: SUBNET,
  ips: listOf(ADDRESS_RANGE, {
    description: 'Addresses or ranges first-last. Empty means none, not the whole subnet.',
  }),
  excludeIPs: listOf(ADDRESS_RANGE, { description: 'Taken out of ips; the same forms.' }),
  gateway: text(45, { description: 'Becomes the default route. It must lie in the subnet.' }),
  routes: listOf(ROUTE_OF_POOL, { description: 'Further routes that a pod gets with an address.' }),
};

/** The rules of other fields pass if the subnet itself is wrong, so that one fault has one message. */
const inReadableSubnet = (rule: string) => `!isCIDR(self.subnet) || ${rule}`;
/** A range is inside if both of its ends are. The rule of the item has already refused text that is no address. */
const isInside = (range: string) =>
  [firstOf(range), lastOf(range)].map((end) => `(!isIP(${end}) || cidr(self.subnet).containsIP(${end}))`).join(' && ');

const insideRule = (field: string): Rule => ({
  rule: inReadableSubnet(`!has(self.${field}) || self.${field}.all(item, ${isInside('item')})`),
  message: 'has an address that is not in the subnet',
  messageExpression: `self.${field}.filter(item, !(${isInside('item')}))[0] + ' is not in the subnet ' + self.subnet`,
  fieldPath: `.${field}`,
});

export const NETWORK_RULES: readonly Rule[] = [
  {
    rule: "!has(self.ipVersion) || self.ipVersion == (self.subnet.contains(':') ? 6 : 4)",
    message: 'does not agree with the subnet',
    fieldPath: '.ipVersion',
  },
  insideRule('ips'),
  insideRule('excludeIPs'),
  {
    rule: inReadableSubnet('!has(self.gateway) || isIP(self.gateway) && cidr(self.subnet).containsIP(self.gateway)'),
    message: 'is not an address in the subnet',
    fieldPath: '.gateway',
  },
  {
    rule: inReadableSubnet(
      '!has(self.routes) || self.routes.all(route, !isIP(route.gw) || cidr(self.subnet).containsIP(route.gw))',
    ),
    message: 'has a gw that is not in the subnet',
    fieldPath: '.routes',
  },
  {
    rule: "!has(self.routes) || self.routes.all(route, route.dst.contains(':') == self.subnet.contains(':'))",
    message: 'has a dst that is not of the family of the subnet',
    fieldPath: '.routes',
  },
];

/** The path of the condition for a printer column. */
export const READY = '.status.conditions[?(@.type=="Ready")].status';

/** The printer columns of pools and subnets. */
export const NETWORK_COLUMNS: readonly Column[] = [
  ['VERSION', 'string', '.spec.ipVersion'],
  ['SUBNET', 'string', '.spec.subnet'],
  ['ALLOCATED-IP-COUNT', 'integer', '.status.allocatedIPCount'],
  ['TOTAL-IP-COUNT', 'integer', '.status.totalIPCount'],
];
