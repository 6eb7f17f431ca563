import { expect, test } from 'vitest';
import { withoutManagedFields } from './kube-object.ts';

test('managedFields are dropped, and everything else stays', () => {
  const metadata = {
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
    generation: 2,
    annotations: { a: 'b' },
    finalizers: ['f'],
  };
  const object = { metadata: { ...metadata, managedFields: [{ manager: 'kubectl' }] }, spec: { x: 1 } };
  expect(withoutManagedFields(object)).toEqual({ metadata, spec: { x: 1 } });
});
