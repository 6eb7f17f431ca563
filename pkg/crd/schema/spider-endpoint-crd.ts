import { object, type Schema } from './schema.ts';
import { spiderpoolKind } from './spiderpool-kind.ts';
import { VLAN } from './status-schema.ts';

const TEXT: Schema = { type: 'string' };

const attachment = object(
  {
    interface: TEXT,
    ipv4: TEXT,
    ipv4Pool: TEXT,
    ipv4Gateway: TEXT,
    ipv6: TEXT,
    ipv6Pool: TEXT,
    ipv6Gateway: TEXT,
    vlan: { ...VLAN, default: 0 },
    mac: TEXT,
    cleanGateway: { type: 'boolean' },
    routes: { type: 'array', items: object({ dst: TEXT, gw: TEXT }, ['dst', 'gw']) },
  },
  ['interface'],
);

const current = object({ uid: TEXT, node: TEXT, ips: { type: 'array', items: attachment } }, ['uid', 'node', 'ips']);

const status = object(
  { current, ownerControllerType: TEXT, ownerControllerName: TEXT },
  ['current', 'ownerControllerType', 'ownerControllerName'],
  { description: 'Computed from the records for people to read; nobody decides by it.' },
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
