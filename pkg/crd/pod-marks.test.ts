import { expect, test } from 'vitest';
import { runtimeUid } from './pod-marks.ts';

test.each([
  { name: 'its own', annotations: undefined, uid: 'object' },
  { name: 'that of the static pod behind it', annotations: { 'kubernetes.io/config.mirror': 'static' }, uid: 'static' },
  { name: 'its own where the mark is empty', annotations: { 'kubernetes.io/config.mirror': '' }, uid: 'object' },
])('the UID of a pod is $name', ({ annotations, uid }) => {
  const metadata = {
    name: 'p',
    uid: 'object',
    resourceVersion: '1',
    ...(annotations === undefined ? {} : { annotations }),
  };
  expect(runtimeUid(metadata)).toBe(uid);
});
