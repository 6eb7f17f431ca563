import { expect, test } from 'vitest';
import type { NetnsLook } from '#agent/node/netns-look.ts';
import type { LeftoverVerdict } from '#agent/release/collector.ts';
import type { Holder } from '#pkg/record/ip-record.ts';
import { toRetained } from '#pkg/record/released-spec.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { MemoryPods } from '#test/support/memory-pods.ts';
import { judgeSandbox } from './judge-sandbox.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const OLD = { kind: 'Pod', namespace: 'prod', name: 'web', uid: 'uid-of-web', netns: '/run/netns/web' } as const;
const WEB = { ...OLD, netnsInode: 4_026_532_001 } as const;

interface Case {
  readonly name: string;
  readonly look: NetnsLook;
  /** For how long every look has said so. */
  readonly forMs: number;
  readonly pod?: 'alive' | 'ended' | 'in its grace';
  readonly state?: 'Allocated' | 'Retained' | 'Suspect';
  readonly isProven?: boolean;
  readonly holder?: Partial<Holder>;
  readonly expected: 'free' | 'wait' | 'outlives' | null;
}

const CASES: readonly Case[] = [
  { name: 'there', look: 'there', forMs: 0, expected: null },
  { name: 'gone, first look', look: 'gone', forMs: 0, expected: 'wait' },
  { name: 'gone in two scans', look: 'gone', forMs: 500, expected: 'free' },
  { name: 'gone, pod ended', look: 'gone', forMs: 500, pod: 'ended', expected: 'free' },
  { name: 'gone, pod alive: it gets a new sandbox', look: 'gone', forMs: 600_000, pod: 'alive', expected: null },
  { name: 'gone, Suspect', look: 'gone', forMs: 500, state: 'Suspect', expected: 'free' },
  { name: 'gone, Retained in doubt', look: 'gone', forMs: 500, state: 'Retained', expected: 'free' },
  { name: 'gone, Retained', look: 'gone', forMs: 600_000, state: 'Retained', isProven: true, expected: null },
  { name: 'no link for 29 s', look: 'bare', forMs: 29_999, expected: 'wait' },
  { name: 'no link for 30 s', look: 'bare', forMs: 30_000, expected: 'free' },
  { name: 'path gone, processes not seen', look: 'path-gone', forMs: 600_000, expected: null },
  { name: 'path gone for 59 s, no inode known', look: 'path-gone', forMs: 59_999, holder: OLD, expected: 'wait' },
  { name: 'path gone for 60 s, no inode known', look: 'path-gone', forMs: 60_000, holder: OLD, expected: 'free' },
  { name: 'unclear', look: 'unclear', forMs: 600_000, expected: null },
  { name: 'there 59 s after the pod', look: 'there', forMs: 59_999, expected: null },
  { name: 'there a minute after the pod', look: 'there', forMs: 60_000, expected: 'outlives' },
  { name: 'there, pod ended', look: 'there', forMs: 60_000, pod: 'ended', expected: 'outlives' },
  { name: 'there, pod in its grace', look: 'there', forMs: 600_000, pod: 'in its grace', expected: null },
  {
    name: 'there, a static pod without its mirror',
    look: 'there',
    forMs: 600_000,
    holder: { ...WEB, static: true },
    expected: null,
  },
  { name: 'gone, a static pod', look: 'gone', forMs: 500, holder: { ...WEB, static: true }, expected: 'free' },
];

test.each(CASES)('$name: $expected', ({ look, forMs, pod, state = 'Allocated', holder = WEB, isProven, expected }) => {
  const record = buildRecord({ state, holder });
  const pods = new MemoryPods();
  if (pod === 'alive') pods.put('web');
  if (pod === 'ended') pods.end(pods.put('web', { deletesAtMs: NOW.getTime() - 60_000 }));
  if (pod === 'in its grace') pods.end(pods.put('web', { deletesAtMs: NOW.getTime() - 59_999 }));
  const nowMs = 1_000_000;
  const sinceMs = nowMs - forMs;
  const sight = { nowMs, agentStartedAtMs: 0, look, lookSinceMs: sinceMs, seenSinceMs: sinceMs };
  expect(
    toWord(judgeSandbox(pods, () => NOW)(isProven ? { ...record, spec: toRetained(record.spec) } : record, sight)),
  ).toBe(expected);
});

function toWord(verdict: LeftoverVerdict | null): Case['expected'] {
  if (verdict === null) return null;
  if (verdict.free) return 'free';
  return verdict.isOutliving === true ? 'outlives' : 'wait';
}
