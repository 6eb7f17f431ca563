import { COMMON_STATUS, fields, IDENTIFIER, listOf, TEXT, TEXTS, WHOLE } from './vitistack-schema.ts';

const IPV4_CIDR = { type: 'string', pattern: '^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$' };
const VLAN = { type: 'integer', minimum: 0, maximum: 4_094 };
const TYPE = { type: 'string', enum: ['dhcp', 'static'] };

const IP_ALLOCATION = fields(
  {
    type: TYPE,
    provider: { type: 'string', maxLength: 32, pattern: '^[A-Za-z0-9_-]+$' },
    dhcp: fields({ requireClientClasses: TEXTS }),
    static: fields(
      {
        ipv4CIDR: IPV4_CIDR,
        ipv4Gateway: TEXT,
        ipv4RangeStart: TEXT,
        ipv4RangeEnd: TEXT,
        vlanId: VLAN,
        dns: TEXTS,
        ttlSeconds: { type: 'integer', minimum: 60, default: 3_600 },
      },
      ['ipv4CIDR', 'ipv4Gateway'],
    ),
  },
  ['type'],
);

const PROVISIONING = fields(
  {
    provider: { type: 'string', enum: ['nam', 'manual'], default: 'nam' },
    nam: fields({}),
    manual: fields({ ipv4CIDR: IPV4_CIDR, ipv4Gateway: TEXT, ipv6CIDR: TEXT, vlanId: VLAN }, ['ipv4CIDR']),
  },
  ['provider'],
);

const COUNTS = { type: TYPE, provider: TEXT, allocatedCount: WHOLE, availableCount: WHOLE, totalCount: WHOLE };

const STATUS = {
  ...COMMON_STATUS,
  provisioningPhase: { type: 'string', enum: ['Pending', 'Ready', 'Error'] },
  observedGeneration: WHOLE,
  retryCount: WHOLE,
  datacenterIdentifier: TEXT,
  namespaceId: TEXT,
  ipv4Prefix: TEXT,
  ipv6Prefix: TEXT,
  ipv4EgressIp: TEXT,
  ipv6EgressIp: TEXT,
  vlanId: WHOLE,
  associatedKubernetesClusterIds: TEXTS,
};

const IDENTIFIERS = { datacenterIdentifier: IDENTIFIER, supervisorIdentifier: IDENTIFIER };

export const OLD_NAMESPACE_SCHEMA = fields({
  spec: fields({ ...IDENTIFIERS, ipAllocation: IP_ALLOCATION }, Object.keys(IDENTIFIERS)),
  status: fields({
    ...STATUS,
    ipAllocationStatus: fields({
      ...COUNTS,
      allocatedIPs: listOf(fields({ ip: TEXT, networkConfiguration: TEXT }, ['ip', 'networkConfiguration'])),
    }),
  }),
});

/** The identifiers are optional here: the newest types have them no more. */
export const NEW_NAMESPACE_SCHEMA = fields({
  spec: fields({ ...IDENTIFIERS, ipAllocation: IP_ALLOCATION, networkProvisioning: PROVISIONING }),
  status: fields({ ...STATUS, ipAllocationSummary: fields(COUNTS) }),
});
