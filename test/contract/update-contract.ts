import { describe, expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { type IpRecord, RECORD_STATES, type RecordSpec, type RecordState } from '#pkg/record/ip-record.ts';
import { amended, expectFailure, type MakeLedger, taken } from './ledger-resource.ts';
import { heldBy, inState, specOf } from './record-spec.ts';

const SPEC = specOf('10.0.0.1');
const OTHER_POD = { name: 'web-1', uid: 'pod-uid-1', containerID: 'container-1' };
const NEXT_LIFE = { uid: 'pod-uid-2', containerID: 'container-2', node: 'worker-2' };

const TAKE_OVERS = RECORD_STATES.flatMap((state) => [
  { state, by: 'the same holder', next: heldBy(SPEC, NEXT_LIFE), ok: state === 'Retained' || state === 'Suspect' },
  { state, by: 'another holder', next: heldBy(SPEC, OTHER_POD), ok: state === 'Suspect' },
]);

const AMENDMENTS: Record<RecordState, readonly RecordState[]> = {
  Allocated: RECORD_STATES,
  Retained: ['Retained', 'Suspect'],
  Suspect: ['Allocated', 'Suspect'],
  Cooling: [],
  Quarantined: [],
};
const AMENDMENT_TABLE = RECORD_STATES.flatMap((from) =>
  RECORD_STATES.map((to) => ({ from, to, ok: AMENDMENTS[from].includes(to) })),
);

const WRITES = [
  { method: 'takeOver', before: inState(SPEC, 'Suspect'), next: heldBy(SPEC, OTHER_POD) },
  { method: 'amend', before: SPEC, next: heldBy(SPEC, { attachGeneration: 2 }) },
] as const;

export function describeUpdate(makeLedger: MakeLedger): void {
  describe('takeOver', () => {
    test.each(TAKE_OVERS)('$state by $by: $ok', async ({ state, next, ok }) => {
      await using resource = await makeLedger();
      const seen = await recordIn(resource.ledger, state);
      await expectWrite(resource.ledger, seen, next, ok, () => resource.ledger.takeOver(seen, next));
    });
  });

  describe('amend', () => {
    test.each(AMENDMENT_TABLE)('$from to $to: $ok', async ({ from, to, ok }) => {
      await using resource = await makeLedger();
      const seen = await recordIn(resource.ledger, from);
      const next = inState(heldBy(SPEC, { attachGeneration: 7 }), to);
      await expectWrite(resource.ledger, seen, next, ok, () => resource.ledger.amend(seen, next));
    });

    test('a Suspect record does not go back to another uid', async () => {
      await using resource = await makeLedger();
      const seen = await recordIn(resource.ledger, 'Suspect');
      const next = heldBy(SPEC, NEXT_LIFE);
      await expectWrite(resource.ledger, seen, next, false, () => resource.ledger.amend(seen, next));
    });

    test('a write that changes nothing keeps the version', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      expect(await resource.ledger.amend(seen, structuredClone(SPEC))).toEqual({ done: true, record: seen });
      expect(await resource.ledger.get(seen.name)).toEqual(seen);
    });

    test('a write that changes something changes the version, not uid, name and time', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      const next = await amended(resource.ledger, seen, heldBy(SPEC, { attachGeneration: 2 }));
      expect(next.resourceVersion).not.toBe(seen.resourceVersion);
      expect(next).toEqual({
        ...seen,
        spec: heldBy(SPEC, { attachGeneration: 2 }),
        resourceVersion: next.resourceVersion,
      });
    });
  });

  describe.each(WRITES)('$method of a record that is not there any more', ({ method, before, next }) => {
    const begin = async (ledger: Ledger) => {
      const created = await taken(ledger, SPEC);
      return before.state === 'Allocated' ? created : amended(ledger, created, before);
    };

    test('an old version changes nothing', async () => {
      await using resource = await makeLedger();
      const seen = await begin(resource.ledger);
      expect(await resource.ledger[method](seen, next)).toMatchObject({ done: true });
      const now = await resource.ledger.get(seen.name);
      const later = heldBy(next, { attachGeneration: 9 });
      expect(await resource.ledger[method](seen, later)).toEqual({ done: false, because: 'changed' });
      expect(await resource.ledger.get(seen.name)).toEqual(now);
    });

    test('a no-op with an old version is refused too', async () => {
      await using resource = await makeLedger();
      const seen = await begin(resource.ledger);
      const outcome = await resource.ledger[method](seen, next);
      expect(outcome.done).toBe(true);
      expect(await resource.ledger[method](seen, next)).toEqual({ done: false, because: 'changed' });
    });

    test('another uid under the same name changes nothing', async () => {
      await using resource = await makeLedger();
      const seen = await begin(resource.ledger);
      const forged = { ...seen, uid: '00000000-0000-4000-8000-000000000000' };
      expect(await resource.ledger[method](forged, next)).toEqual({ done: false, because: 'changed' });
      expect(await resource.ledger.get(seen.name)).toEqual(seen);
    });

    test('a re-created name with the old preconditions changes nothing', async () => {
      await using resource = await makeLedger();
      const seen = await begin(resource.ledger);
      await resource.ledger.release(seen);
      const reborn = await begin(resource.ledger);
      expect(await resource.ledger[method](seen, next)).toEqual({ done: false, because: 'changed' });
      expect(await resource.ledger.get(seen.name)).toEqual(reborn);
    });

    test('an update of a deleted record returns gone, and creates nothing', async () => {
      await using resource = await makeLedger();
      const seen = await begin(resource.ledger);
      await resource.ledger.release(seen);
      expect(await resource.ledger[method](seen, next)).toEqual({ done: false, because: 'gone' });
      expect(await resource.ledger.get(seen.name)).toBeNull();
    });

    test.each([
      ['address', { address: '10.0.0.2' }],
      ['domain', { domain: 'blue' }],
    ])('the %s never changes', async (_, change) => {
      await using resource = await makeLedger();
      const seen = await begin(resource.ledger);
      await expectFailure(resource.ledger[method](seen, { ...next, ...change }), 'internal');
      expect(await resource.ledger.list({ limit: 10 })).toEqual([seen]);
    });
  });
}

async function recordIn(ledger: Ledger, state: RecordState): Promise<IpRecord> {
  const record = await taken(ledger, SPEC);
  return state === 'Allocated' ? record : amended(ledger, record, inState(SPEC, state));
}

async function expectWrite(
  ledger: Ledger,
  seen: IpRecord,
  next: RecordSpec,
  ok: boolean,
  write: () => Promise<unknown>,
): Promise<void> {
  if (ok) {
    expect(await write()).toMatchObject({ done: true, record: { name: seen.name, uid: seen.uid, spec: next } });
    expect(await ledger.get(seen.name)).toMatchObject({ uid: seen.uid, spec: next });
  } else {
    await expectFailure(write(), 'internal');
    expect(await ledger.get(seen.name)).toEqual(seen);
  }
}
