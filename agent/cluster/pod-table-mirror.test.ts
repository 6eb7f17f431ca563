import { expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { NodePodTable } from './pod-table.ts';
import { toSeenPod } from './seen-pod.ts';

const DELETED = { deletionTimestamp: '2026-11-16T10:00:00Z' };
const victim = (resourceVersion: number, metadata = {}) =>
  toSeenPod(buildPod(resourceVersion, { name: 'victim', uid: 'v', metadata }));
/** Anybody who may create pods may write kubelet's mark of a mirror pod. */
const claiming = (uid: string, resourceVersion: number, metadata = {}) => {
  const annotations = { 'kubernetes.io/config.mirror': uid };
  const who = { namespace: 'evil', name: 'x', uid: 'x1' };
  return toSeenPod(buildPod(resourceVersion, { ...who, metadata: { annotations, ...metadata } }));
};
const mirror = (objectUid: string, resourceVersion: number) => {
  const metadata = { annotations: { 'kubernetes.io/config.mirror': 'static' } };
  return toSeenPod(buildPod(resourceVersion, { name: 'static-worker-1', uid: objectUid, metadata }));
};

function start() {
  const ended: string[] = [];
  return { table: new NodePodTable((uid) => void ended.push(uid)), ended };
}

test.each(['before', 'after'])('a pod that claims to mirror another, seen %s it, does not stand for it', (order) => {
  const { table, ended } = start();
  if (order === 'before') table.see(claiming('v', 1), 'watch');
  table.see(victim(2), 'watch');
  if (order === 'after') table.see(claiming('v', 3), 'watch');
  expect(table.known('v')).toMatchObject({ namespace: 'prod', name: 'victim' });
  table.see(claiming('v', 4, DELETED), 'watch');
  expect(table.known('v')).toMatchObject({ name: 'victim', isAlive: true });
  table.end('x1');
  expect(table.known('v')).toMatchObject({ name: 'victim', isAlive: true });
  expect(ended).toEqual([]);
});

test('nor does it hide the end of the other', () => {
  const { table, ended } = start();
  table.see(victim(1), 'watch');
  table.see(claiming('v', 2), 'watch');
  table.see(victim(3, DELETED), 'watch');
  expect(table.known('v')).toMatchObject({ name: 'victim', isAlive: false });
  table.end('v');
  expect(table.known('v')).toBeNull();
  expect(ended).toEqual(['v']);
});

test('nor, where the other is deleted at once, does it take its place', () => {
  const { table, ended } = start();
  table.see(claiming('v', 1), 'watch');
  table.see(victim(2), 'watch');
  table.end('v');
  expect(table.known('v')).toBeNull();
  expect(ended).toEqual(['v']);
});

test('of two that claim to mirror a static pod the first stands for it, and the end of the second is not its end', () => {
  const { table, ended } = start();
  table.see(mirror('m1', 1), 'watch');
  table.see(claiming('static', 2), 'watch');
  table.see(mirror('m1', 3), 'watch');
  table.see(claiming('static', 4), 'watch');
  expect(table.known('static')).toMatchObject({ name: 'static-worker-1' });
  table.end('x1');
  expect(table.known('static')).toMatchObject({ name: 'static-worker-1', isAlive: true });
  expect(ended).toEqual([]);
});

test('of two that claim to mirror a static pod the one that is left stands for it', () => {
  const { table, ended } = start();
  table.see(claiming('static', 1), 'watch');
  table.see(mirror('m1', 2), 'watch');
  table.end('x1');
  expect(table.known('static')).toMatchObject({ name: 'static-worker-1' });
  expect(ended).toEqual([]);
  table.end('m1');
  expect(ended).toEqual(['static']);
});

test('a mirror pod that is made anew goes on standing for its static pod', () => {
  const { table } = start();
  table.see(mirror('m1', 1), 'watch');
  table.see(mirror('m2', 3), 'watch');
  table.end('m1');
  expect(table.known('static')).toMatchObject({ name: 'static-worker-1', resourceVersion: '3' });
});
