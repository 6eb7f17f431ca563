import { object, type Schema } from './schema.ts';
import { spiderpoolKind } from './spiderpool-kind.ts';
import { VLAN } from './status-schema.ts';

const textOf = (description: string): Schema => ({ type: 'string', description });
/** Without a limit on its length: Spiderpool's clients write endpoints too. */
const listIn = (items: Schema, description: string): Schema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'atomic',
  description,
});

const attachment = object(
  {
    interface: textOf('The interface inside the pod.'),
    ipv4: textOf('The IPv4 address with its prefix length.'),
    ipv4Pool: textOf('The pool of the IPv4 address.'),
    ipv4Gateway: textOf('The default route for IPv4.'),
    ipv6: textOf('The IPv6 address with its prefix length.'),
    ipv6Pool: textOf('The pool of the IPv6 address.'),
    ipv6Gateway: textOf('The default route for IPv6.'),
    vlan: { ...VLAN, default: 0 },
    mac: textOf('The MAC address. ipledger does not write it.'),
    cleanGateway: { type: 'boolean', description: 'No default route is set for the interface.' },
    routes: listIn(
      object({ dst: textOf('The destination.'), gw: textOf('The next hop.') }, ['dst', 'gw']),
      'Further routes of the interface.',
    ),
  },
  ['interface'],
);

const current = object(
  {
    uid: textOf('The uid of the pod.'),
    node: textOf('The node of the pod.'),
    ips: listIn(attachment, 'One entry per interface.'),
  },
  ['uid', 'node', 'ips'],
  { description: 'The pod and its addresses.' },
);

const status = object(
  {
    current,
    ownerControllerType: textOf('The kind of the top controller of the pod.'),
    ownerControllerName: textOf('The name of the top controller of the pod.'),
  },
  ['current', 'ownerControllerType', 'ownerControllerName'],
  { description: 'Computed from the records for people to read; no decision depends on it.' },
);

/** The status is a plain field here: Spiderpool's clients write the whole object. */
export const SPIDER_ENDPOINT_CRD = spiderpoolKind({
  kind: 'SpiderEndpoint',
  plural: 'spiderendpoints',
  shortName: 'se',
  scope: 'Namespaced',
  hasStatusSubresource: false,
  columns: [
    ['INTERFACE', 'string', '.status.current.ips[0].interface'],
    ['IPV4POOL', 'string', '.status.current.ips[0].ipv4Pool'],
    ['IPV4', 'string', '.status.current.ips[0].ipv4'],
    ['IPV6POOL', 'string', '.status.current.ips[0].ipv6Pool'],
    ['IPV6', 'string', '.status.current.ips[0].ipv6'],
    ['NODE', 'string', '.status.current.node'],
  ],
  schema: object({ status }, [], { description: 'The addresses of a pod.' }),
});
