import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { MemoryPods } from '#test/support/memory-pods.ts';
import { judgeSandbox } from './judge-sandbox.ts';

const WEB = { kind: 'Pod', namespace: 'prod', name: 'web', uid: 'uid-of-web', netns: '/run/netns/web' } as const;

function judge(wish: {
  readonly state?: 'Allocated' | 'Retained' | 'Suspect';
  readonly goneForMs: number | null;
  readonly pod?: 'alive' | 'ended';
}) {
  const pods = new MemoryPods();
  if (wish.pod === 'alive') pods.put('web');
  if (wish.pod === 'ended') pods.end(pods.put('web'));
  const nowMs = 1_000_000;
  const goneSinceMs = wish.goneForMs === null ? null : nowMs - wish.goneForMs;
  const look = goneSinceMs === null ? ('there' as const) : ('gone' as const);
  const sight = { nowMs, agentStartedAtMs: 0, look, goneSinceMs, seenSinceMs: 0 };
  return judgeSandbox(pods)(buildRecord({ state: wish.state ?? 'Allocated', holder: WEB }), sight)?.free ?? null;
}

test.each([
  { name: 'its namespace is there', wish: { goneForMs: null }, expected: null },
  { name: 'its namespace is gone, for less than a minute', wish: { goneForMs: 59_999 }, expected: false },
  { name: 'its namespace is gone for a minute, its pod too', wish: { goneForMs: 60_000 }, expected: true },
  { name: 'its namespace is gone and its pod has ended', wish: { goneForMs: 60_000, pod: 'ended' }, expected: true },
  { name: 'its pod lives and gets a new sandbox', wish: { goneForMs: 600_000, pod: 'alive' }, expected: null },
  { name: 'it waits for its sticky holder', wish: { goneForMs: 600_000, state: 'Retained' }, expected: null },
  {
    name: 'it is Suspect, which is the controller to end',
    wish: { goneForMs: 600_000, state: 'Suspect' },
    expected: null,
  },
] as const)('$name: $expected', ({ wish, expected }) => {
  expect(judge(wish)).toBe(expected);
});
