import { ALLOCATION_PHASES } from '#pkg/vitistack/read-ip-allocation.ts';
import { customResource } from './custom-resource.ts';
import { integer, listOf, name, object, rules, text } from './schema.ts';

const spec = object(
  {
    networkNamespaceName: name({
      description: 'The NetworkNamespace, in the same namespace, that the address is taken from.',
    }),
    networkConfigurationName: name({
      description: 'The NetworkConfiguration, in the same namespace, that asks for the address.',
    }),
    interfaceName: text(253, { description: 'The interface of a machine with several.' }),
    requestedAddress: text(45, {
      description: 'The IPv4 address that is wanted. Either exactly this one is given, or none.',
      ...rules({ rule: "self == '' || isIP(self)", message: 'is not an IP address' }),
    }),
  },
  ['networkNamespaceName', 'networkConfigurationName'],
  { description: 'Which address is asked for, and for whom.' },
);

const status = object(
  {
    phase: text(16, {
      enum: ALLOCATION_PHASES,
      description: 'How far it has come; Allocated once it has its address.',
    }),
    address: text(45, { description: 'The IPv4 address.' }),
    gateway: text(45, { description: 'The gateway of the network.' }),
    prefix: integer(0, 32, { description: 'The prefix length of the network.' }),
    vlanId: integer(0, 4_094, { description: 'The VLAN of the network.' }),
    dns: listOf(text(253), { description: 'The DNS servers of the network.' }),
    expiresAt: text(64, {
      format: 'date-time',
      description: 'Until when the address is kept after its NetworkConfiguration is gone. Renewed while that lives.',
    }),
    message: text(1_024, { description: 'Why it is so, for people.' }),
  },
  [],
  { description: 'What was given.' },
);

/** As the page of Vitistack has it. Vitistack's own charts do not install this kind yet. */
export const IP_ALLOCATION_CRD = customResource({
  group: 'vitistack.io',
  version: 'v1alpha2',
  kind: 'IPAllocation',
  plural: 'ipallocations',
  shortName: 'ipa',
  categories: ['vitistack'],
  scope: 'Namespaced',
  hasStatusSubresource: true,
  columns: [
    ['ADDRESS', 'string', '.status.address'],
    ['NETWORKNAMESPACE', 'string', '.spec.networkNamespaceName'],
    ['NETWORKCONFIGURATION', 'string', '.spec.networkConfigurationName'],
    ['PHASE', 'string', '.status.phase'],
    ['AGE', 'date', '.metadata.creationTimestamp'],
  ],
  schema: object({ spec, status }, ['spec'], { description: 'One address of a NetworkNamespace for one interface.' }),
});
