import { expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { NodePodTable } from './pod-table.ts';
import { toSeenPod } from './seen-pod.ts';

const web = (resourceVersion: number, uid = 'a') => toSeenPod(buildPod(resourceVersion, { name: 'web', uid }));

test('after a restore of the store a pod with an older version is what is known', () => {
  const table = new NodePodTable(() => {});
  table.see(web(90), 'watch');
  table.startAnew();
  table.see(web(10, 'b'), 'watch');
  expect(table.known('b')).toMatchObject({ name: 'web', isAlive: true });
  expect(table.named('prod', 'web')).toMatchObject({ objectUid: 'b' });
});

test('after a restore a pod that was deleted may exist again', () => {
  const table = new NodePodTable(() => {});
  table.see(web(90), 'watch');
  table.end('a');
  table.startAnew();
  table.see(web(10), 'watch');
  expect(table.known('a')).toMatchObject({ isAlive: true });
});
