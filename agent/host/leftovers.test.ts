import { expect, test } from 'vitest';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { type HostEvidence, judgeLeftover } from './leftovers.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const PATIENCE = { pathGoneMs: 60_000, netnsGoneMs: 5_000, netnsBareMs: 60_000, earlierBootMs: 300_000 };
const SEEN: HostEvidence = {
  nowMs: 1_000_000,
  bootID: 'boot-2',
  agentStartedAtMs: 500_000,
  lookSinceMs: 1_000_000,
  look: 'there',
  seenSinceMs: 990_000,
  longestRestMs: 60_000,
};

function record(spec: Partial<RecordSpec>, holder: Partial<RecordSpec['holder']> = {}): IpRecord {
  return {
    name: '10.0.0.1',
    uid: 'u',
    resourceVersion: '1',
    createdAt: '2026-01-01T00:00:00Z',
    spec: {
      address: '10.0.0.1',
      prefix: 24,
      domain: 'default',
      pool: { kind: 'SpiderIPPool', name: 'v4', uid: '' },
      state: 'Allocated',
      holder: {
        kind: 'Container',
        namespace: '',
        name: 'c1',
        uid: 'c1',
        interface: 'eth0',
        containerID: 'c1',
        netns: '/var/run/netns/x',
        bootID: 'boot-2',
        attachGeneration: 1,
        node: 'n',
        ...holder,
      },
      ...spec,
    },
  };
}

test.each([
  { name: 'namespace there', record: record({}), seen: SEEN, free: null },
  {
    name: 'path gone, first look',
    record: record({}),
    seen: { ...SEEN, look: 'path-gone', lookSinceMs: 1_000_000 },
    free: false,
  },
  {
    name: 'path gone for 59 s',
    record: record({}),
    seen: { ...SEEN, look: 'path-gone', lookSinceMs: 941_000 },
    free: false,
  },
  {
    name: 'path gone for 60 s',
    record: record({}),
    seen: { ...SEEN, look: 'path-gone', lookSinceMs: 940_000 },
    free: true,
  },
  {
    name: 'namespace gone, first look',
    record: record({}),
    seen: { ...SEEN, look: 'gone' },
    free: false,
  },
  {
    name: 'namespace gone for 5 s',
    record: record({}),
    seen: { ...SEEN, look: 'gone', lookSinceMs: 995_000 },
    free: true,
  },
  {
    name: 'no link for 59 s',
    record: record({}),
    seen: { ...SEEN, look: 'bare', lookSinceMs: 941_000 },
    free: false,
  },
  {
    name: 'no link for 60 s',
    record: record({}),
    seen: { ...SEEN, look: 'bare', lookSinceMs: 940_000 },
    free: true,
  },
  { name: 'namespace not visible to this agent', record: record({}), seen: { ...SEEN, look: 'unclear' }, free: null },
  { name: 'earlier boot, agent up for 499 s', record: record({}, { bootID: 'boot-1' }), seen: SEEN, free: true },
  {
    name: 'earlier boot, agent just up',
    record: record({}, { bootID: 'boot-1' }),
    seen: { ...SEEN, agentStartedAtMs: 999_000 },
    free: false,
  },
  {
    name: 'earlier boot, namespace gone long ago: still the time to come back',
    record: record({}, { bootID: 'boot-1' }),
    seen: { ...SEEN, agentStartedAtMs: 999_000, look: 'gone', lookSinceMs: 0 },
    free: false,
  },
  {
    name: 'cooling, not over',
    record: record({ state: 'Cooling', until: '2026-01-01T12:00:01Z' }),
    seen: SEEN,
    free: false,
  },
  {
    name: 'cooling until far in the future by a clock that was wrong, but rested for the whole cooldown',
    record: record({ state: 'Cooling', until: '2040-01-01T00:00:00Z' }),
    seen: { ...SEEN, seenSinceMs: 940_000 },
    free: true,
  },
  {
    name: 'cooling, over',
    record: record({ state: 'Cooling', until: '2026-01-01T12:00:00Z' }),
    seen: SEEN,
    free: true,
  },
  {
    name: 'quarantined, over',
    record: record({ state: 'Quarantined', until: '2026-01-01T11:00:00Z' }),
    seen: SEEN,
    free: true,
  },
  {
    name: 'suspect is not ours to judge',
    record: record({ state: 'Suspect' }),
    seen: { ...SEEN, look: 'gone', lookSinceMs: 0 },
    free: null,
  },
] as const)('$name', ({ record: judged, seen, free }) => {
  expect(judgeLeftover(judged, seen, PATIENCE, NOW)?.free ?? null).toBe(free);
});
