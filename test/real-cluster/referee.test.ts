import { expect, test } from 'vitest';
import { findFaults, type Observation, placeOf } from './referee.ts';

const AGREED: Observation = {
  pods: [{ name: 'default/web-1', uid: 'u1', addresses: ['10.0.0.1'] }],
  records: [{ address: '10.0.0.1', state: 'Allocated', uid: 'u1', interface: 'eth0', place: 'n1:cni-1' }],
  sandboxes: [{ place: 'n1:cni-1', addresses: [['eth0', '10.0.0.1']] }],
};
const [pod] = AGREED.pods;
const [record] = AGREED.records;
const [sandbox] = AGREED.sandboxes;

test('a network namespace is named by its node and its file', () => {
  expect(placeOf('n1', '/var/run/netns/cni-1')).toBe('n1:cni-1');
});

test('there is no fault when pods, records and network namespaces agree', () => {
  expect(findFaults(AGREED)).toEqual([]);
});

test('a kept address needs no network namespace', () => {
  const kept = { address: '10.0.0.2', state: 'Retained', uid: undefined, interface: 'eth0', place: 'n1:gone' };
  expect(findFaults({ ...AGREED, records: [...AGREED.records, kept] })).toEqual([]);
});

test.each([
  {
    name: 'one address in two network namespaces',
    seen: { ...AGREED, sandboxes: [sandbox, { place: 'n2:cni-2', addresses: [['eth0', '10.0.0.1']] }] },
    faults: [
      '10.0.0.1 is used by n1:cni-1/eth0 and n2:cni-2/eth0',
      'n2:cni-2/eth0=10.0.0.1 is in use without a record',
    ],
  },
  {
    name: 'a leaked record',
    seen: { ...AGREED, pods: [], sandboxes: [] },
    faults: ['the record 10.0.0.1 names n1:cni-1, where eth0 is not with it'],
  },
  {
    name: 'an address without a record',
    seen: { ...AGREED, pods: [], records: [] },
    faults: ['n1:cni-1/eth0=10.0.0.1 is in use without a record'],
  },
  {
    name: 'a pod that reports the address of another',
    seen: { ...AGREED, pods: [pod, { name: 'default/web-2', uid: 'u2', addresses: ['10.0.0.1'] }] },
    faults: ['10.0.0.1 of the pod default/web-2 is not its record'],
  },
  {
    name: 'a living pod whose record is given up',
    seen: { ...AGREED, records: [{ ...record, state: 'Suspect' }] },
    faults: [
      'n1:cni-1/eth0=10.0.0.1 is in use without a record',
      '10.0.0.1 of the pod default/web-1 is not its record',
    ],
  },
])('$name is a fault', ({ seen, faults }) => {
  expect(findFaults(seen as Observation)).toEqual(faults);
});
