import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { NodePodTable } from './pod-table.ts';
import { toSeenPod } from './seen-pod.ts';

const pod = (uid: string, resourceVersion: number, isAlive = true) =>
  toSeenPod(buildPod(resourceVersion, { uid, metadata: isAlive ? {} : { deletionTimestamp: '2026-11-16T10:00:00Z' } }));

function start() {
  const ended: string[] = [];
  return { table: new NodePodTable((uid) => void ended.push(uid)), ended };
}

/** What the API server wrote of one name: `first` lives, is marked and goes, then `second` does. */
const HISTORY: readonly (readonly [uid: string, resourceVersion: number, isAlive: boolean])[] = [
  ['first', 1, true],
  ['first', 2, true],
  ['first', 3, false],
  ['second', 5, true],
  ['second', 6, false],
];
const GONE_AT = { first: 4, second: 7 } as const;

/** The watch tells all in order; a read answers, some time later, with what was true when it was asked. */
const news = fc.array(fc.record({ read: fc.nat(7), late: fc.nat(7) }), { maxLength: 12 });

test('whichever of watch and reads comes first, each end is told once and nothing comes back', () => {
  fc.assert(
    fc.property(news, (reads) => {
      const { table, ended } = start();
      for (let now = 0; now <= 7; now += 1) {
        const written = HISTORY.find(([, version]) => version === now);
        if (written !== undefined) table.see(pod(...written), 'watch');
        for (const uid of ['first', 'second'] as const) if (GONE_AT[uid] === now) table.end(uid);
        for (const { read, late } of reads) {
          // A read may be ahead of the watch by any amount, or as far behind.
          if (late !== now) continue;
          const seen = HISTORY.findLast(([, version]) => version <= read);
          if (seen !== undefined) table.see(pod(...seen), 'read');
        }
        if (now >= GONE_AT.first) expect(table.known('first')).toBeNull();
        for (const uid of ['first', 'second']) {
          const isEnded = table.known(uid)?.isAlive === false;
          if (isEnded) expect(ended).toContain(uid);
          if (ended.includes(uid)) expect(table.known(uid)?.isAlive ?? false).toBe(false);
        }
      }
      expect(table.known('second')).toBeNull();
      expect(ended.toSorted()).toEqual(['first', 'second']);
    }),
    { numRuns: 2_000 },
  );
});

test('of two pods of one name that were both unknown, the one written earlier is over', () => {
  const { table, ended } = start();
  expect(table.see(pod('new', 12), 'read')).toMatchObject({ uid: 'new' });
  expect(table.see(pod('old', 11), 'watch')).toBeNull();
  table.end('old');
  expect(ended).toEqual(['old']);
  expect(table.named('prod', 'web')?.objectUid).toBe('new');
});

test('what was learned by reads is bounded, what the watch has shown is not', () => {
  const { table, ended } = start();
  const numbered = (n: number) => toSeenPod(buildPod(n, { name: `p-${n}`, uid: `u-${n}` }));
  table.see(numbered(1), 'watch');
  for (let n = 2; n <= 1_002; n += 1) table.see(numbered(n), 'read');
  expect(table.learned()).toHaveLength(1_000);
  expect([1, 2, 3, 1_002].map((n) => table.known(`u-${n}`) !== null)).toEqual([true, false, true, true]);
  expect(ended).toEqual([]);
});
