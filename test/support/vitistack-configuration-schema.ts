import { COMMON_STATUS, FLAG, fields, IDENTIFIER, listOf, TEXT, TEXTS, TIME } from './vitistack-schema.ts';

/** The same type in spec and status. */
const INTERFACE = fields({
  name: TEXT,
  macAddress: TEXT,
  vlan: TEXT,
  ipv4Addresses: TEXTS,
  ipv6Addresses: TEXTS,
  ipv4Subnet: TEXT,
  ipv6Subnet: TEXT,
  ipv4Gateway: TEXT,
  ipv6Gateway: TEXT,
  dns: TEXTS,
  dhcpReserved: FLAG,
  ipAllocated: FLAG,
  allocationMethod: { type: 'string', enum: ['dhcp', 'static'] },
  allocationExpiry: TIME,
});

export const CONFIGURATION_SCHEMA = fields({
  spec: fields(
    {
      name: IDENTIFIER,
      networkNamespaceName: TEXT,
      provider: { type: 'string', minLength: 1, maxLength: 32 },
      datacenterIdentifier: IDENTIFIER,
      supervisorIdentifier: IDENTIFIER,
      clusterIdentifier: IDENTIFIER,
      description: { type: 'string', maxLength: 256 },
      networkInterfaces: listOf(INTERFACE),
    },
    ['name'],
  ),
  status: fields({ ...COMMON_STATUS, networkInterfaces: listOf(INTERFACE) }),
});

const SHARED_IP_FIELDS = {
  clusterIdentifier: TEXT,
  datacenterIdentifier: TEXT,
  supervisorIdentifier: TEXT,
  environment: TEXT,
  networkNamespaceIdentifier: TEXT,
  method: TEXT,
  poolMembers: TEXTS,
};

export const SHARED_IP_SCHEMA = fields({
  spec: fields(
    {
      ...SHARED_IP_FIELDS,
      environment: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' },
      networkNamespaceIdentifier: { type: 'string', minLength: 3, maxLength: 32, pattern: '^[A-Za-z0-9_-]+$' },
      method: { type: 'string', enum: ['round-robin', 'least-session', 'first-alive'], default: 'first-alive' },
      provider: TEXT,
    },
    [
      'clusterIdentifier',
      'datacenterIdentifier',
      'environment',
      'networkNamespaceIdentifier',
      'provider',
      'supervisorIdentifier',
    ],
  ),
  status: fields({ ...COMMON_STATUS, ...SHARED_IP_FIELDS, loadBalancerIps: TEXTS }),
});
