import { expect, test } from 'vitest';
import type { Holder } from '#pkg/record/ip-record.ts';
import { toHolderText } from './holder-text.ts';

const base: Holder = {
  kind: 'Container',
  namespace: '',
  name: '',
  interface: 'eth0',
  attachGeneration: 0,
  node: 'lab',
};
const id = '9ab3'.repeat(16);

test.each([
  { name: 'a pod', holder: { ...base, namespace: 'prod', name: 'web-0' }, text: 'prod/web-0' },
  { name: 'a container with a name', holder: { ...base, name: 'red' }, text: 'red' },
  { name: 'a container known by its ID', holder: { ...base, name: id }, text: '9ab39ab39ab3' },
  { name: 'a container without a name', holder: { ...base, containerID: id }, text: '9ab39ab39ab3' },
  { name: 'nobody', holder: base, text: '' },
])('$name', ({ holder, text }) => {
  expect(toHolderText(holder)).toBe(text);
});
