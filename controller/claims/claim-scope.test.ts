import { expect, test } from 'vitest';
import { isInScope } from './claim-scope.ts';

const claim = { namespace: 'prod', name: 'vm-0', uid: 'u', resourceVersion: '1' };
const filtered = { ...claim, labels: { 'cluster.x-k8s.io/watch-filter': 'east' } };

test.each([
  { name: 'any', metadata: claim, namespace: null, watchFilter: null, isServed: true },
  { name: 'its namespace', metadata: claim, namespace: 'prod', watchFilter: null, isServed: true },
  { name: 'another namespace', metadata: claim, namespace: 'lab', watchFilter: null, isServed: false },
  { name: 'its watch filter', metadata: filtered, namespace: null, watchFilter: 'east', isServed: true },
  { name: 'another watch filter', metadata: filtered, namespace: null, watchFilter: 'west', isServed: false },
  { name: 'a watch filter that it lacks', metadata: claim, namespace: null, watchFilter: 'east', isServed: false },
])('a claim in the scope of $name is served: $isServed', ({ metadata, namespace, watchFilter, isServed }) => {
  expect(isInScope({ metadata }, { namespace, watchFilter })).toBe(isServed);
});
