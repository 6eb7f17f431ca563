import { expect, test } from 'vitest';
import { buildAllocation, buildAllocationRecord } from '#test/support/build-allocation.ts';
import { isRecordOfAllocation } from './allocation-record.ts';

const owner = (name: string) => ({ apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name });

test.each([
  { name: 'with its uid', holder: {}, expected: true },
  {
    name: 'with its uid, although it names another NetworkConfiguration now',
    holder: { owner: owner('other') },
    expected: true,
  },
  { name: 'of its name and NetworkConfiguration, with another uid', holder: { uid: 'before' }, expected: true },
  {
    name: 'of its name and another NetworkConfiguration',
    holder: { uid: 'before', owner: owner('other') },
    expected: false,
  },
  { name: 'of another name', holder: { name: 'other' }, expected: false },
  { name: 'of another namespace', holder: { namespace: 'other' }, expected: false },
  { name: 'of a pod of that name', holder: { kind: 'Pod' as const }, expected: false },
])('a record $name: $expected', ({ holder, expected }) => {
  expect(isRecordOfAllocation(buildAllocationRecord('10.0.2.50', holder), buildAllocation())).toBe(expected);
});

test('a record that rests belongs to nobody', () => {
  const record = buildAllocationRecord();
  const resting = { ...record, spec: { ...record.spec, state: 'Cooling' as const } };
  expect(isRecordOfAllocation(resting, buildAllocation())).toBe(false);
});
