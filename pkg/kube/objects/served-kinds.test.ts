import { expect, test } from 'vitest';
import { readServedKinds } from './served-kinds.ts';

const GROUP = { group: 'apps.kruise.io', version: 'v1alpha1' };

test('kinds are read with their plural, and whether they can be scaled', () => {
  const list = {
    kind: 'APIResourceList',
    resources: [
      { name: 'clonesets', kind: 'CloneSet', namespaced: true },
      { name: 'clonesets/scale', kind: 'Scale', namespaced: true },
      { name: 'clonesets/status', kind: 'CloneSet', namespaced: true },
      { name: 'nodeimages', kind: 'NodeImage', namespaced: false },
      null,
      { name: 1 },
    ],
  };
  expect(readServedKinds(list, GROUP)).toEqual([
    { resource: { ...GROUP, plural: 'clonesets', kind: 'CloneSet' }, isNamespaced: true, hasScale: true },
    { resource: { ...GROUP, plural: 'nodeimages', kind: 'NodeImage' }, isNamespaced: false, hasScale: false },
  ]);
});

test.each([null, [], {}, { resources: 1 }])('what is no list is refused: %j', (value) => {
  expect(readServedKinds(value, GROUP)).toBeNull();
});
