import { expect, test } from 'vitest';
import { RestoreHold } from '#controller/give/restore-hold.ts';
import { buildClaim } from '#test/support/build-claim.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { holdOf } from './claim-observer.ts';

/** A claim of a missing cluster in namespace `stranger` waits, and one in `prod` asks. */
function hold(namespaceNames: readonly string[]) {
  const pool = buildPool({ name: 'lab', namespaceNames });
  const expected = [{ key: 'stranger/vm-0', namespace: 'stranger', untilMs: Date.parse('2026-11-16T10:10:00Z') }];
  const sources = {
    book: { expected: () => expected },
    restore: new RestoreHold(
      () => 0,
      () => 0,
    ),
    catalog: { find: () => ({ facts: { pool } }) },
    namespaces: { get: () => null },
    now: () => new Date('2026-11-16T10:05:00Z'),
  };
  return holdOf(sources as never, buildClaim());
}

test('a claim in a namespace that the pool does not serve holds nothing back', () => {
  expect(hold([])).toMatchObject({ leftMs: 300_000 });
  expect(hold(['prod', 'stranger'])).toMatchObject({ leftMs: 300_000 });
  expect(hold(['prod'])).toBeNull();
});
