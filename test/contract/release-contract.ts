import { describe, expect, test } from 'vitest';
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

  describe('watchFreed', () => {
    test('it wakes for its pool, and not after it was disposed', async () => {
      await using resource = await makeLedger();
      const woken: string[] = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      using _watch = resource.ledger.watchFreed('pool-a', () => {
        woken.push('a');
        resolve();
      });
      const stopped = resource.ledger.watchFreed('pool-a', () => woken.push('stopped'));
      stopped[Symbol.dispose]();
      const seen = await taken(resource.ledger, SPEC);
      await resource.ledger.release(seen);
      await promise;
      expect(woken).not.toContain('stopped');
    });

    test('the address can be taken after the wake-up', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      const { promise, resolve } = Promise.withResolvers<void>();
      using _watch = resource.ledger.watchFreed('pool-a', resolve);
      const [outcome] = await Promise.all([
        promise.then(() => resource.ledger.create(SPEC)),
        resource.ledger.release(seen),
      ]);
      expect(outcome.taken).toBe(true);
    });

    test('an address that became Suspect can be taken too', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, SPEC);
      const { promise, resolve } = Promise.withResolvers<void>();
      using _watch = resource.ledger.watchFreed('pool-a', resolve);
      await amended(resource.ledger, seen, inState(SPEC, 'Suspect'));
      await promise;
    });
  });
}
