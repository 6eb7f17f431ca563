import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RECORD_STATES } from '#pkg/record/ip-record.ts';
import {
  AGENT_READY,
  agentAwayFor,
  buildEvidence,
  buildPod,
  buildPodRecord,
  NODE_HERE,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  NODE_STALE,
  NODE_UNSEEN,
  NOW_MS,
  nodeGoneFor,
} from '#test/support/build-evidence.ts';
import { COLLECT_DEFAULTS } from './collect-settings.ts';
import { judge } from './judge.ts';

const someTime = fc.integer({ min: 0, max: NOW_MS });
const someTimeOrNever = fc.option(someTime);
const node = fc.constantFrom(
  NODE_HERE,
  NODE_NOT_READY,
  NODE_STALE,
  NODE_UNSEEN,
  NODE_OUT_OF_SERVICE,
  nodeGoneFor(9_999),
);
const owner = fc.constantFrom('unread', 'valid', 'invalid', 'not-served');
const ownerReference = fc.constantFrom(undefined, { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' });
const times = {
  firstSeenMs: someTime,
  goneSinceMs: someTimeOrNever,
  finishedSinceMs: someTimeOrNever,
  idleSinceMs: someTimeOrNever,
  ownerAbsentSinceMs: someTimeOrNever,
};
const settings = fc.record({
  collectsOnReadyNodes: fc.boolean(),
  collectsOnNotReadyNodes: fc.boolean(),
  keepsStatefulSets: fc.boolean(),
  additionalDelayMs: fc.constantFrom(0, 5_000),
});

test('a record whose pod is alive with that uid on that node is kept or repaired, whatever else is said', () => {
  const living = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Unknown', ''),
    podIPs: fc.constantFrom<string[]>([], ['10.0.0.5'], ['10.0.0.9']),
    haveAllEnded: fc.boolean(),
    isAnyRunning: fc.boolean(),
  });
  const state = fc.constantFrom('Allocated', 'Suspect', 'Retained');
  fc.assert(
    fc.property(living, state, node, owner, ownerReference, fc.record(times), settings, (...given) => {
      const [facts, of, sighting, valid, reference, seen, change] = given;
      const pod = buildPod(facts);
      const record = buildPodRecord(reference === undefined ? {} : { owner: reference }, { state: of });
      const claimants = pod.podIPs.includes('10.0.0.5') ? [pod] : [];
      const evidence = buildEvidence({ pod, claimants, node: sighting, owner: valid, ...seen });
      const verdict = judge(record, evidence, { ...COLLECT_DEFAULTS, ...change });
      expect(['keep', 'allocate-again']).toContain(verdict.do);
    }),
  );
});

test('an address in the status of a living pod is never freed, retained or suspected, whoever its record names', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RECORD_STATES),
      node,
      owner,
      ownerReference,
      fc.record(times),
      settings,
      (...given) => {
        const [state, sighting, valid, reference, seen, change] = given;
        const rests = state === 'Cooling' || state === 'Quarantined';
        const holder = { name: 'other', uid: 'other', ...(reference === undefined ? {} : { owner: reference }) };
        const record = buildPodRecord(holder, { state, ...(rests ? { until: '2020-01-01T00:00:00Z' } : {}) });
        const evidence = buildEvidence({ claimants: [buildPod()], node: sighting, owner: valid, ...seen });
        const verdict = judge(record, evidence, { ...COLLECT_DEFAULTS, ...change });
        expect(['keep', 'allocate-again']).toContain(verdict.do);
      },
    ),
  );
});

test('what becomes of a pod frees nothing: unless its node is lost no address that a sandbox may have is given away', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(NODE_HERE, NODE_NOT_READY, NODE_STALE, NODE_UNSEEN),
      fc.constantFrom(AGENT_READY, agentAwayFor(10), agentAwayFor(3_000)),
      fc.constantFrom('Allocated', 'Retained', 'Suspect'),
      ownerReference,
      fc.record(times),
      owner,
      settings,
      (sighting, agent, state, reference, seen, valid, change) => {
        const record = buildPodRecord(reference === undefined ? {} : { owner: reference }, { state });
        for (const pod of [null, buildPod({ deletesAtMs: 0, haveAllEnded: true }), buildPod({ phase: 'Failed' })]) {
          const evidence = buildEvidence({ pod, node: sighting, agent, owner: valid, ...seen });
          expect(judge(record, evidence, { ...COLLECT_DEFAULTS, ...change }).do).not.toBe('free');
        }
      },
    ),
  );
});
