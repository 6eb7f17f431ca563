import { expect, test } from 'vitest';
import {
  type Holder,
  holderKey,
  isSameHolder,
  isSameNic,
  isStaticHolder,
  isStickyHolder,
  ordinalOf,
} from './ip-record.ts';

const WEB = { kind: 'Pod', namespace: 'prod', name: 'web-0', uid: 'u1', interface: 'eth0' } as const;

test.each([
  { name: 'itself', other: {}, holder: true, nic: true },
  { name: 'its next pod', other: { uid: 'u2' }, holder: true, nic: false },
  { name: 'its other interface', other: { interface: 'net1' }, holder: true, nic: false },
  { name: 'another name', other: { name: 'web-1' }, holder: false, nic: false },
  { name: 'another namespace', other: { namespace: 'test' }, holder: false, nic: false },
  { name: 'another kind', other: { kind: 'VirtualMachineInstance' as const }, holder: false, nic: false },
])('a holder and $name', ({ other, holder, nic }) => {
  expect(isSameHolder(WEB, { ...WEB, ...other })).toBe(holder);
  expect(isSameNic(WEB, { ...WEB, ...other })).toBe(nic);
});

test('the key is kind, namespace, name, interface and family', () => {
  const holder = { kind: 'Pod', namespace: 'prod', name: 'web-0', interface: 'eth0' } as const;
  expect(holderKey(holder, 4)).toBe('Pod/prod/web-0/eth0/4');
  expect(holderKey({ ...holder, namespace: '' }, 6)).toBe('Pod//web-0/eth0/6');
});

const ON = { enableStatefulSet: true, enableKubevirtStaticIP: true };
const POD: Holder = { kind: 'Pod', namespace: 'prod', name: 'db-3', interface: 'eth0', attachGeneration: 1, node: 'n' };
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const VM: Holder = { ...POD, kind: 'VirtualMachineInstance', name: 'vm' };

test.each([
  { name: 'a StatefulSet pod', holder: { ...POD, owner: SET }, switches: ON, sticky: true },
  { name: 'a virtual machine', holder: VM, switches: ON, sticky: true },
  {
    name: 'a StatefulSet pod, switched off',
    holder: { ...POD, owner: SET },
    switches: { ...ON, enableStatefulSet: false },
    sticky: false,
  },
  {
    name: 'a virtual machine, switched off',
    holder: VM,
    switches: { ...ON, enableKubevirtStaticIP: false },
    sticky: false,
  },
  { name: 'a bare pod', holder: POD, switches: ON, sticky: false },
  {
    name: 'a pod of a Deployment',
    holder: { ...POD, owner: { ...SET, kind: 'Deployment' } },
    switches: ON,
    sticky: false,
  },
  {
    name: 'a third-party StatefulSet',
    holder: { ...POD, owner: { ...SET, apiVersion: 'apps.kruise.io/v1' } },
    switches: ON,
    sticky: false,
  },
  { name: 'a pod without an ordinal', holder: { ...POD, name: 'db-x', owner: SET }, switches: ON, sticky: false },
  {
    name: 'a StatefulSet pod that its set did not want',
    holder: { ...POD, owner: SET, sticky: false },
    switches: ON,
    sticky: false,
  },
  {
    name: 'a StatefulSet pod that its set wants',
    holder: { ...POD, owner: SET, sticky: true },
    switches: ON,
    sticky: true,
  },
  {
    name: 'a wanted StatefulSet pod, switched off',
    holder: { ...POD, owner: SET, sticky: true },
    switches: { ...ON, enableStatefulSet: false },
    sticky: false,
  },
])('$name: sticky is $sticky', ({ holder, switches, sticky }) => {
  expect(isStickyHolder(holder, switches)).toBe(sticky);
});

test.each([
  ['db-0', 'db', 0],
  ['db-12', 'db', 12],
  ['db-0-1', 'db-0', 1],
  ['db-01', 'db', null],
  ['db-', 'db', null],
  ['db', 'db', null],
  ['dc-1', 'db', null],
  ['db-99999999999', 'db', null],
])('%s is pod %s of the set: %s', (pod, set, ordinal) => {
  expect(ordinalOf(pod, set)).toBe(ordinal);
});

const NODE_OWNER = { apiVersion: 'v1', kind: 'Node', name: 'worker-1' };

test.each([
  { name: 'marked by its agent', holder: { static: true }, isStatic: true },
  { name: 'said not to be one', holder: { static: false, owner: NODE_OWNER }, isStatic: false },
  { name: 'of an older agent, owned by its node', holder: { owner: NODE_OWNER }, isStatic: true },
  { name: 'of an older agent, without an owner', holder: {}, isStatic: false },
  { name: 'owned by another kind Node', holder: { owner: { ...NODE_OWNER, apiVersion: 'lab/v1' } }, isStatic: false },
])('a holder $name: $isStatic', ({ holder, isStatic }) => {
  expect(isStaticHolder({ kind: 'Pod', ...holder })).toBe(isStatic);
});
