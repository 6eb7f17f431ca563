import { object, type Rule, rules, type Schema, text } from './schema.ts';

export const DNS_LABEL = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';
export const DNS_SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

const LONGEST_ADDRESS = 45;
const LONGEST_CIDR = 49;

export const canonicalAddress: Rule = {
  rule: 'isIP(self) && ip.isCanonical(self)',
  message: 'is not an IP address in canonical form',
};

/** Both ends of a range in CEL; a single address is its own first and last. (`all` over the parts is beyond the cost budget.) */
export const firstOf = (range: string) => `${range}.split('-')[0]`;
export const lastOf = (range: string) => `${range}.substring(${range}.lastIndexOf('-') + 1)`;

/** One address or `first-last`. CEL cannot compare the two; the decoder and the webhook check their order. */
export const ADDRESS_RANGE: Schema = text(
  2 * LONGEST_ADDRESS + 1,
  rules(
    {
      rule: `self.split('-').size() <= 2 && isIP(${firstOf('self')}) && isIP(${lastOf('self')})`,
      message: 'is not an IP address or a range such as 10.0.0.10-10.0.0.20',
    },
    { rule: `${firstOf('self')}.contains(':') == ${lastOf('self')}.contains(':')`, message: 'mixes IPv4 and IPv6' },
  ),
);

/** A route that a container gets. It is computed, so it is canonical. */
export const ROUTE_OF_RECORD: Schema = object(
  {
    dst: text(LONGEST_CIDR, {
      description: 'The destination in CIDR form.',
      ...rules({ rule: 'isCIDR(self) && cidr(self) == cidr(self).masked()', message: 'is not a network in CIDR form' }),
    }),
    gw: text(39, { description: 'The next hop.', ...rules(canonicalAddress) }),
  },
  ['dst', 'gw'],
);

/** A route as a person wrote it. Like Spiderpool, it may have host bits in the destination. */
export const ROUTE_OF_POOL: Schema = object(
  {
    dst: text(LONGEST_CIDR, {
      description: 'The destination in CIDR form, e.g. 10.7.0.0/16. The default route is spec.gateway.',
      ...rules(
        { rule: 'isCIDR(self)', message: 'is not a network in CIDR form such as 10.7.0.0/16' },
        {
          rule: '!isCIDR(self) || cidr(self).prefixLength() > 0',
          message: 'is the default route; set spec.gateway instead',
        },
      ),
    }),
    gw: text(LONGEST_ADDRESS, {
      description: 'The next hop, an address in the subnet.',
      ...rules({ rule: 'isIP(self)', message: 'is not an IP address' }),
    }),
  },
  ['dst', 'gw'],
);
