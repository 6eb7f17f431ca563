import { expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { toAdoptedPod, trimAdoptedPod } from './adopted-pod.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const ownerReferences = [
  { ...OWNER, name: 'other' },
  { ...OWNER, uid: 'u-set', controller: true },
];

test.each([
  { name: 'a bare pod', pod: buildPod(1), read: { uid: 'u1', node: 'worker-1', owner: null } },
  {
    name: 'who controls it, not who else owns it',
    pod: buildPod(1, { metadata: { ownerReferences } }),
    read: { uid: 'u1', node: 'worker-1', owner: OWNER },
  },
  {
    name: 'not scheduled yet',
    pod: buildPod(1, { spec: { nodeName: undefined } }),
    read: { uid: 'u1', node: '', owner: null },
  },
  {
    name: 'the mirror of a static pod',
    pod: buildPod(1, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'static', other: 'x' } } }),
    read: { uid: 'static', node: 'worker-1', owner: null },
  },
])('$name is read the same from the whole object and from what is kept of it', ({ pod, read }) => {
  expect([toAdoptedPod(pod), toAdoptedPod(trimAdoptedPod(pod))]).toEqual([read, read]);
  expect(trimAdoptedPod(pod)).not.toHaveProperty('status');
});
