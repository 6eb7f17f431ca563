import { expect, test } from 'vitest';
import { TAKEN_OVER_ANNOTATION } from '#pkg/vitistack/provider-names.ts';
import {
  ALLOCATION_FINALIZER,
  CONFIGURATION_FINALIZER,
  LAST_ADDRESS_ANNOTATION,
  MADE_ANNOTATION,
} from '#pkg/vitistack/vitistack-names.ts';
import { allocated, allocation, configuration, factsOf, network } from '#test/support/build-configuration.ts';
import type { ConfigurationStep } from './configuration-step.ts';
import type { ConfigurationFacts } from './judge-configuration.ts';
import { nextOfConfiguration } from './next-of-configuration.ts';

const NOW = new Date('2026-11-18T20:00:00Z');
const next = (facts: ConfigurationFacts, isStrict = false) => nextOfConfiguration(facts, { isStrict }, NOW);
const READY = allocation('eth0', allocated('10.0.2.50'));
const SHOWN = { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['10.0.2.50'], allocationMethod: 'static' }] };
const DHCP = network(null);

/** The step in a few words. */
function brief(step: ConfigurationStep): string {
  if (step.do === 'delete') return `delete ${step.allocations.map(({ name }) => name)}`;
  if (step.do === 'create') return `create ${step.drafts.map(({ object }) => object.metadata.name)}`;
  return step.do === 'write-status' ? `status ${step.status.phase}` : step.do;
}

test.each<{ name: string; facts: ConfigurationFacts; isStrict?: boolean; step: string }>([
  {
    name: 'a new one is signed before anything is made',
    facts: factsOf(configuration({ isSigned: false })),
    step: 'sign',
  },
  { name: 'then it gets an IPAllocation for each interface', facts: factsOf(configuration()), step: 'create web-eth0' },
  { name: 'then its status is written', facts: factsOf(configuration(), [READY]), step: 'status Ready' },
  {
    name: 'the IPAllocation that somebody made without an interface serves the only one',
    facts: factsOf(configuration(), [allocation('', allocated('10.0.2.100'), { name: 'db-server-fixed' })]),
    step: 'status Ready',
  },
  {
    name: 'one that is being deleted is waited for',
    facts: factsOf(configuration(), [
      allocation('eth0', allocated('10.0.2.5'), { metadata: { deletionTimestamp: 'x' } }),
    ]),
    step: 'status Pending',
  },
  {
    name: 'another provider: not touched',
    facts: factsOf(configuration({ isSigned: false, spec: { provider: 'kea' } })),
    step: 'rest',
  },
  {
    name: 'our role in any spelling: served',
    facts: factsOf(configuration({ spec: { provider: ' Static-IP-operator' } })),
    step: 'create web-eth0',
  },
  {
    name: 'no provider, DHCP: not touched',
    facts: factsOf(configuration({ isSigned: false }), [], [DHCP]),
    step: 'rest',
  },
  {
    name: 'our role named, but the network is DHCP: not touched',
    facts: factsOf(configuration({ isSigned: false, spec: { provider: 'static-ip-operator' } }), [], [DHCP]),
    step: 'rest',
  },
  {
    name: 'no NetworkNamespace yet: waited for',
    facts: factsOf(configuration({ isSigned: false }), [], []),
    step: 'rest',
  },
  {
    name: 'no NetworkNamespace named: the first by name',
    facts: factsOf(
      configuration({ spec: { networkNamespaceName: undefined } }),
      [],
      [network({}, { name: 'z' }), network({}, { name: 'a' })],
    ),
    step: 'create web-eth0',
  },
  {
    name: 'no NetworkNamespace named, strict: not touched',
    facts: factsOf(configuration({ isSigned: false, spec: { networkNamespaceName: '' } })),
    isStrict: true,
    step: 'rest',
  },
  {
    name: 'no NetworkNamespace named: the one that was taken stays, whatever comes',
    facts: factsOf(
      configuration({ spec: { networkNamespaceName: undefined } }),
      [READY],
      [network(), network({}, { name: 'a' })],
    ),
    step: 'status Ready',
  },
  {
    name: 'switched to DHCP: what it has stays, and it is said',
    facts: factsOf(configuration(), [READY], [DHCP]),
    step: 'status Error',
  },
  {
    name: 'its NetworkNamespace is gone: what it has stays, and nothing new is made',
    facts: factsOf(configuration({ spec: { networkInterfaces: [{ name: 'eth0' }, { name: 'eth1' }] } }), [READY], []),
    step: 'status Error',
  },
  {
    name: 'given to another provider: what we made is taken back, not what others made',
    facts: factsOf(configuration({ spec: { provider: 'kea' } }), [READY, allocation('eth0', {}, { name: 'by-hand' })]),
    step: 'delete web-eth0',
  },
  {
    name: 'given to another provider, nothing left: let go',
    facts: factsOf(configuration({ spec: { provider: 'kea' } })),
    step: 'let-go',
  },
  {
    name: 'an interface less: its IPAllocation goes',
    facts: factsOf(configuration(), [READY, allocation('eth1', allocated('10.0.2.51'))]),
    step: 'delete web-eth1',
  },
  {
    name: 'moved to another NetworkNamespace: the IPAllocation of the old one goes',
    facts: factsOf(configuration({ spec: { networkNamespaceName: 'blue' } }), [READY], [network({}, { name: 'blue' })]),
    step: 'delete web-eth0',
  },
  {
    name: 'deleted: its IPAllocations end first',
    facts: factsOf(configuration({ metadata: { deletionTimestamp: 'x' } }), [READY]),
    step: 'delete web-eth0',
  },
  {
    name: 'deleted: what others made is left to Kubernetes',
    facts: factsOf(configuration({ metadata: { deletionTimestamp: 'x' } }), [
      allocation('eth0', {}, { name: 'by-hand' }),
    ]),
    step: 'let-go',
  },
  {
    name: 'an interface that it does not ask for, made by somebody else: left alone',
    facts: factsOf(configuration(), [READY, allocation('eth1', {}, { name: 'web-eth1' })]),
    step: 'status Ready',
  },
  {
    name: 'deleted, with all IPAllocations on their way out: it may go',
    facts: factsOf(configuration({ metadata: { deletionTimestamp: 'x' } }), [
      allocation('eth0', {}, { metadata: { deletionTimestamp: 'x' } }),
    ]),
    step: 'let-go',
  },
  {
    name: 'deleted with --cascade=orphan: its IPAllocations live on',
    facts: factsOf(
      configuration({ metadata: { deletionTimestamp: 'x', finalizers: ['orphan', CONFIGURATION_FINALIZER] } }),
      [READY],
    ),
    step: 'let-go',
  },
  {
    name: 'deleted with --cascade=orphan, and the garbage collector was faster: its IPAllocations live on',
    facts: factsOf(configuration({ metadata: { deletionTimestamp: 'x' } }), [
      allocation('eth0', allocated('10.0.2.50'), { metadata: { ownerReferences: [] } }),
    ]),
    step: 'let-go',
  },
  {
    name: 'the finalizer is refused: it is said, and nothing is made',
    facts: { ...factsOf(configuration({ isSigned: false })), refusals: { sign: 'no finalizers' } },
    step: 'status Error',
  },
  {
    name: 'an IPAllocation is refused: it is said',
    facts: { ...factsOf(configuration()), refusals: { create: 'a quota' } },
    step: 'status Error',
  },
  {
    name: 'a deletion is refused: the others are made',
    facts: {
      ...factsOf(configuration(), [allocation('eth1', allocated('10.0.2.51'))]),
      refusals: { delete: 'no deletions' },
    },
    step: 'create web-eth0',
  },
  {
    name: 'deleted, and its finalizer was stripped: not touched',
    facts: factsOf(configuration({ metadata: { deletionTimestamp: 'x', finalizers: [] } }), [READY]),
    step: 'rest',
  },
  {
    name: 'deleted, with the finalizer of static-ip-operator alone: it may go',
    facts: factsOf(
      configuration({ isSigned: false, metadata: { deletionTimestamp: 'x', finalizers: [CONFIGURATION_FINALIZER] } }),
      [],
      [],
    ),
    step: 'let-go',
  },
])('$name', ({ facts, isStrict, step }) => {
  expect(brief(next(facts, isStrict))).toBe(step);
});

test('the IPAllocation of an interface has the name, labels and owner of the published example, and our finalizer from the start', () => {
  const step = next(factsOf(configuration()));
  expect(step).toMatchObject({
    drafts: [
      {
        object: {
          metadata: {
            namespace: 'datacenter-01',
            name: 'web-eth0',
            finalizers: [ALLOCATION_FINALIZER],
            labels: { 'vitistack.io/network-namespace': 'prod-network', 'vitistack.io/network-configuration': 'web' },
            ownerReferences: [
              { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: 'web', uid: 'uid-of-web' },
            ],
          },
          spec: { networkNamespaceName: 'prod-network', networkConfigurationName: 'web', interfaceName: 'eth0' },
        },
      },
    ],
  });
  const draft = step.do === 'create' ? step.drafts[0]?.object : undefined;
  expect(draft?.metadata.annotations).toEqual({ [MADE_ANNOTATION]: 'web' });
  expect(draft?.['spec']).not.toHaveProperty('requestedAddress');
});

test.each<{ name: string; status: object; isTakenOver: string; asks: object }>([
  { name: 'shows one of ours', status: SHOWN, isTakenOver: 'false', asks: { last: '10.0.2.50', requested: undefined } },
  {
    name: 'shows one of static-ip-operator',
    status: SHOWN,
    isTakenOver: 'true',
    asks: { last: undefined, requested: '10.0.2.50' },
  },
  {
    name: 'shows one that DHCP gave',
    status: { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['10.0.2.50'], allocationMethod: 'dhcp' }] },
    isTakenOver: 'false',
    asks: { last: undefined, requested: undefined },
  },
  {
    name: 'shows one of another network',
    status: { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['10.9.9.9'] }] },
    isTakenOver: 'false',
    asks: { last: undefined, requested: undefined },
  },
  {
    name: 'shows one of another network, of static-ip-operator',
    status: { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['10.9.9.9'] }] },
    isTakenOver: 'true',
    asks: { last: undefined, requested: '10.9.9.9' },
  },
  {
    name: 'shows it with the hardware address alone',
    status: { networkInterfaces: [{ macAddress: '02:00:00:00:00:01', ipv4Addresses: ['10.0.2.7'] }] },
    isTakenOver: 'false',
    asks: { last: '10.0.2.7', requested: undefined },
  },
  {
    name: 'shows garbage',
    status: { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['soon', 7] }] },
    isTakenOver: 'true',
    asks: { last: undefined, requested: undefined },
  },
])('a configuration that $name', ({ status, isTakenOver, asks }) => {
  const metadata = { annotations: { [TAKEN_OVER_ANNOTATION]: isTakenOver } };
  const step = next(factsOf(configuration({ status, metadata })));
  const draft = step.do === 'create' ? step.drafts[0]?.object : undefined;
  const spec = draft?.['spec'] as { requestedAddress?: string } | undefined;
  const last = draft?.metadata.annotations?.[LAST_ADDRESS_ANNOTATION];
  expect({ last, requested: spec?.requestedAddress }).toEqual(asks);
});

test('one whose address static-ip-operator gave, moved to another NetworkNamespace, gets a new address there', () => {
  const moved = { spec: { networkNamespaceName: 'blue' }, status: SHOWN };
  const blue = network({ ipv4CIDR: '10.0.3.0/24', ipv4Gateway: '10.0.3.1' }, { name: 'blue' });
  const takenOver = { metadata: { annotations: { [TAKEN_OVER_ANNOTATION]: 'true' } } };
  expect(next(factsOf(configuration({ ...moved, ...takenOver }), [READY], [blue]))).toEqual({
    do: 'sign',
    metadata: { annotations: { [TAKEN_OVER_ANNOTATION]: 'false' } },
  });
  expect(brief(next(factsOf(configuration(moved), [READY], [blue])))).toBe('delete web-eth0');
  const step = next(factsOf(configuration(moved), [], [blue]));
  expect(step).toMatchObject({ drafts: [{ object: { spec: { networkNamespaceName: 'blue' } } }] });
  const draft = step.do === 'create' ? step.drafts[0]?.object : undefined;
  expect(draft?.['spec']).not.toHaveProperty('requestedAddress');
  expect(draft?.metadata.annotations).not.toHaveProperty([LAST_ADDRESS_ANNOTATION]);
});

test.each([
  { name: 'shows an address that we have not given', status: SHOWN, taken: 'true' },
  { name: 'shows nothing', status: {}, taken: 'false' },
])('whoever $name is signed as taken over: $taken', ({ status, taken }) => {
  const step = next(factsOf(configuration({ isSigned: false, status, metadata: { finalizers: ['other'] } })));
  expect(step).toEqual({
    do: 'sign',
    metadata: { finalizers: ['other', CONFIGURATION_FINALIZER], annotations: { [TAKEN_OVER_ANNOTATION]: taken } },
  });
});
