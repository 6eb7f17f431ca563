import { expect, test } from 'vitest';
import { NETNS_DIRECTORIES, refuseNetnsPath } from './netns-path.ts';

test.each([
  '/var/run/netns/cni-1f2e',
  '/run/netns/pod',
  '/var/run/docker/netns/1f2e',
  '/proc/1/ns/net',
  '/proc/4194304/ns/net',
])('%s', (path) => {
  expect(refuseNetnsPath(path, NETNS_DIRECTORIES)).toBeNull();
});

test.each([
  { path: '', why: 'is not an absolute path' },
  { path: 'run/netns/pod', why: 'is not an absolute path' },
  { path: '/run/netns/pod\0', why: 'is not an absolute path' },
  { path: '/run/netns/../../etc/shadow', why: 'is not a plain path' },
  { path: '/run/netns//pod', why: 'is not a plain path' },
  {
    path: '/run/netns',
    why: 'is outside /var/run/netns, /run/netns, /var/run/docker/netns, /run/docker/netns, /proc/<pid>/ns/net',
  },
  { path: '/run/netns/', why: 'is outside' },
  { path: '/run/netns/a/b', why: 'is outside' },
  { path: '/run/netns2/pod', why: 'is outside' },
  { path: '/etc/passwd', why: 'is outside' },
  { path: '/proc/self/ns/net', why: 'is outside' },
  { path: '/proc/1/ns/mnt', why: 'is outside' },
  { path: '/proc/1/root/run/netns/pod', why: 'is outside' },
  { path: '/proc/01/ns/net', why: 'is outside' },
])('refused: $path', ({ path, why }) => {
  expect(refuseNetnsPath(path, NETNS_DIRECTORIES)).toContain(why);
});

test('other directories can be configured instead', () => {
  expect(refuseNetnsPath('/host/netns/pod', ['/host/netns'])).toBeNull();
  expect(refuseNetnsPath('/run/netns/pod', ['/host/netns'])).toContain('is outside /host/netns');
});
