import { describe, expect, test } from 'vitest';
import type { PoolChange } from '#pkg/ledger/pool-change.ts';
import { RECORD_STATES } from '#pkg/record/ip-record.ts';
import { amended, type MakeLedger, taken } from './ledger-resource.ts';
import { heldBy, inState, specOf } from './record-spec.ts';

const SPEC = specOf('10.0.0.1');

export function describeRelease(makeLedger: MakeLedger): void {
  describe('release', () => {
    test.each(RECORD_STATES)('a record that is %s is deleted', async (state) => {
      await using resource = await makeLedger();
      const created = await taken(resource.ledger, SPEC);
      const seen = state === 'Allocated' ? created : await amended(resource.ledger, created, inState(SPEC, state));
      expect(await resource.ledger.release(seen)).toEqual({ done: true });
      expect(await resource.ledger.get(seen.name)).toBeNull();
      expect(await resource.ledger.takenOf('pool-a')).toEqual([]);
    });

    test('the second release of a record returns gone', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      await resource.ledger.release(seen);
      expect(await resource.ledger.release(seen)).toEqual({ done: false, because: 'gone' });
    });

    test('an old version releases nothing', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      const now = await amended(resource.ledger, seen, heldBy(SPEC, { attachGeneration: 2 }));
      expect(await resource.ledger.release(seen)).toEqual({ done: false, because: 'changed' });
      expect(await resource.ledger.get(seen.name)).toEqual(now);
    });

    test('another uid under the same name releases nothing', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      const forged = { ...seen, uid: '00000000-0000-4000-8000-000000000000' };
      expect(await resource.ledger.release(forged)).toEqual({ done: false, because: 'changed' });
      expect(await resource.ledger.get(seen.name)).toEqual(seen);
    });

    test('a record that was created again is not released by the old preconditions', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      await resource.ledger.release(seen);
      const reborn = await taken(resource.ledger, SPEC);
      expect(await resource.ledger.release(seen)).toEqual({ done: false, because: 'changed' });
      expect(await resource.ledger.get(seen.name)).toEqual(reborn);
    });
  });

  describe('watchPool', () => {
    test('it tells which address of its pool came back, and nothing after it was disposed', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      await resource.ledger.takenOf('pool-a');
      const stopped: PoolChange[] = [];
      const { promise, resolve } = Promise.withResolvers<PoolChange>();
      using _watch = resource.ledger.watchPool('pool-a', (change) => change.kind === 'freed' && resolve(change));
      const disposed = resource.ledger.watchPool('pool-a', (change) => stopped.push(change));
      disposed[Symbol.dispose]();
      await resource.ledger.release(seen);
      expect(await promise).toEqual({ kind: 'freed', name: seen.name, uid: seen.uid });
      expect(stopped).toEqual([]);
    });

    test('the address can be taken once it is told of', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      await resource.ledger.takenOf('pool-a');
      const { promise, resolve } = Promise.withResolvers<void>();
      using _watch = resource.ledger.watchPool('pool-a', ({ kind }) => kind === 'freed' && resolve());
      const [outcome] = await Promise.all([
        promise.then(() => resource.ledger.create(SPEC)),
        resource.ledger.release(seen),
      ]);
      expect(outcome.taken).toBe(true);
    });

    test('it tells of an address that became Suspect', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      await resource.ledger.takenOf('pool-a');
      const { promise, resolve } = Promise.withResolvers<PoolChange>();
      using _watch = resource.ledger.watchPool('pool-a', (change) => change.kind === 'suspect' && resolve(change));
      await amended(resource.ledger, seen, inState(SPEC, 'Suspect'));
      expect(await promise).toEqual({ kind: 'suspect', name: seen.name });
    });
  });
}
