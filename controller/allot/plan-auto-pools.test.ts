import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import {
  buildSituation,
  describePlan,
  keyOf,
  manualPool,
  NO_LIMITS,
  poolOf,
  record,
  wants,
} from '#test/support/build-situation.ts';
import { planAutoPools } from './plan-auto-pools.ts';

const [web, db] = [keyOf('web'), keyOf('db')];
const LATER = '2026-11-18T10:00:01Z';
const TEN = IntervalSet.of([parseRange('10.0.0.10')]);

test.each([
  { name: 'nobody wants anything', given: {}, expected: [] },
  {
    name: 'a new application',
    given: { wanted: [wants(web, 5)] },
    expected: ['create auto4-web-eth0-web1 10.0.0.10-10.0.0.14'],
  },
  {
    name: 'an application without pods has a pool without addresses',
    given: { wanted: [wants(web, 0)] },
    expected: ['create auto4-web-eth0-web1'],
  },
  {
    name: 'the smallest interval that fits',
    given: { ips: ['10.0.0.10-10.0.0.19', '10.0.0.30-10.0.0.34', '10.0.0.40-10.0.0.43'], wanted: [wants(web, 5)] },
    expected: ['create auto4-web-eth0-web1 10.0.0.30-10.0.0.34'],
  },
  {
    name: 'the largest pieces where none fits',
    given: { ips: ['10.0.0.10-10.0.0.12', '10.0.0.20-10.0.0.24', '10.0.0.30'], wanted: [wants(web, 6)] },
    expected: ['create auto4-web-eth0-web1 10.0.0.20-10.0.0.24 10.0.0.30'],
  },
  {
    name: 'a pool that is as it should be',
    given: { wanted: [wants(web, 2)], pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.11'])] },
    expected: [],
  },
  {
    name: 'growth beside what is there',
    given: {
      wanted: [wants(web, 4)],
      pools: [poolOf(web, 'w', ['10.0.0.20-10.0.0.21']), manualPool('m', ['10.0.0.22'])],
    },
    expected: ['change w 10.0.0.18-10.0.0.21'],
  },
  {
    name: 'growth is beside it first, and elsewhere for the rest',
    given: {
      ips: ['10.0.0.10-10.0.0.15', '10.0.0.50-10.0.0.99'],
      wanted: [wants(web, 10)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.14'])],
    },
    expected: ['change w 10.0.0.10-10.0.0.15 10.0.0.50-10.0.0.53'],
  },
  {
    name: 'shrinking leaves what is in use, and the rest together',
    given: {
      wanted: [wants(web, 3)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.15', '10.0.0.20'])],
      records: [record('10.0.0.12', 'w')],
    },
    expected: ['change w 10.0.0.10-10.0.0.12'],
  },
  {
    name: 'shrinking as far as nothing in use is lost',
    given: {
      wanted: [wants(web, 0)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.13'])],
      records: [record('10.0.0.11', 'w'), record('10.0.0.13', 'w', 'Cooling')],
    },
    expected: ['change w 10.0.0.11 10.0.0.13'],
  },
  {
    name: 'what an agent gave out after the pool had lost it is taken back',
    given: {
      wanted: [wants(web, 2)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.11'], { dropped: ['10.0.0.12-10.0.0.14'] })],
      records: [record('10.0.0.13', 'w'), record('10.0.0.14', 'w', 'Cooling')],
    },
    expected: ['change w 10.0.0.10 10.0.0.13'],
  },
  {
    name: 'addresses at fault are replaced while they last',
    given: {
      wanted: [wants(web, 2)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.11'])],
      records: [record('10.0.0.10', 'w', 'Quarantined'), record('10.0.0.11', 'w', 'Suspect')],
    },
    expected: ['change w 10.0.0.10-10.0.0.13'],
  },
  {
    name: 'and given back afterwards',
    given: {
      wanted: [wants(web, 2)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.13'], { number: '2' })],
      records: [record('10.0.0.12', 'w')],
    },
    expected: ['change w 10.0.0.11-10.0.0.12'],
  },
  {
    name: 'neither gateway nor reserved nor excluded addresses, nor those of other pools',
    given: {
      spec: { gateway: '10.0.0.10', excludeIPs: ['10.0.0.11'] },
      reserved: ['10.0.0.12'],
      pools: [manualPool('m', ['10.0.0.13'])],
      wanted: [wants(web, 3)],
    },
    expected: ['create auto4-web-eth0-web1 10.0.0.14-10.0.0.16'],
  },
  {
    name: 'no address with a record that its own pool does not have',
    given: {
      pools: [manualPool('m', ['10.0.0.10'])],
      records: [record('10.0.0.11', 'm'), record('10.0.0.13', 'deleted')],
      wanted: [wants(web, 2)],
    },
    expected: ['create auto4-web-eth0-web1 10.0.0.14-10.0.0.15'],
  },
  {
    name: 'a reserved address of a pool is replaced',
    given: { reserved: ['10.0.0.10'], wanted: [wants(web, 1)], pools: [poolOf(web, 'w', ['10.0.0.10'])] },
    expected: ['change w 10.0.0.10-10.0.0.11'],
  },
  {
    name: 'what another pool dropped a moment ago waits, what the pool itself dropped does not',
    given: {
      ips: ['10.0.0.10-10.0.0.12'],
      wanted: [wants(db, 1), wants(web, 2)],
      pools: [poolOf(web, 'w', ['10.0.0.10'], { dropped: ['10.0.0.11-10.0.0.12'] })],
    },
    expected: ['change w 10.0.0.10-10.0.0.11', 'db: required 1 more for 1 in all, left 0'],
  },
  {
    name: 'too few are left: nothing is changed, and a smaller one still gets its pool',
    given: {
      wanted: [wants(db, 30), wants(web, 2, { reclaim: false }), wants(keyOf('z'), 1)],
      pools: [poolOf(web, 'w', ['10.0.0.10']), manualPool('m', ['10.0.0.11-10.0.0.28'])],
      limits: { allowedNamespaces: null, mostPerNamespace: 40 },
    },
    expected: [
      'change w 10.0.0.10 10.0.0.29',
      'db: required 30 more for 30 in all, left 1',
      'z: required 1 more for 1 in all, left 0',
    ],
  },
  {
    name: 'of two pools with the same address the later one gets another',
    given: {
      wanted: [wants(db, 2), wants(web, 2)],
      pools: [
        poolOf(web, 'w', ['10.0.0.10-10.0.0.11'], { createdAt: LATER }),
        poolOf(db, 'd', ['10.0.0.11-10.0.0.12']),
      ],
    },
    expected: ['change w 10.0.0.10 10.0.0.13'],
  },
  {
    name: 'and in the same second the one with the later name',
    given: { wanted: [wants(web, 1)], pools: [poolOf(web, 'w', ['10.0.0.10']), manualPool('m', ['10.0.0.10'])] },
    expected: ['change w 10.0.0.11'],
  },
  {
    name: 'a pool that somebody made gives way to none, and no pool to a later one that somebody made',
    given: { wanted: [wants(web, 1)], pools: [poolOf(web, 'w', ['10.0.0.10']), manualPool('m', ['10.0.0.10'], LATER)] },
    expected: [],
  },
  {
    name: 'but the one keeps it of which a pod holds it',
    given: {
      wanted: [wants(db, 1), wants(web, 1)],
      pools: [poolOf(web, 'w', ['10.0.0.10'], { createdAt: LATER }), poolOf(db, 'd', ['10.0.0.10'])],
      records: [record('10.0.0.10', 'w')],
    },
    expected: ['change d 10.0.0.11'],
  },
  {
    name: 'a pool that cannot grow gives way all the same, and takes back what its pods hold',
    given: {
      ips: ['10.0.0.10-10.0.0.13'],
      wanted: [wants(db, 2), wants(web, 5)],
      pools: [
        poolOf(web, 'w', ['10.0.0.10-10.0.0.11'], { createdAt: LATER, dropped: ['10.0.0.13'] }),
        poolOf(db, 'd', ['10.0.0.11-10.0.0.12']),
      ],
      records: [record('10.0.0.13', 'w')],
    },
    expected: ['change w 10.0.0.10 10.0.0.13', 'web: required 3 more for 5 in all, left 0'],
  },
  {
    name: 'also what a pool of a crossing network has is not given out by two',
    given: { wanted: [wants(web, 1)], pools: [poolOf(web, 'w', ['10.0.0.10'])], otherRanges: TEN },
    expected: ['change w 10.0.0.11'],
  },
  {
    name: 'addresses that the subnet lost leave the pool when they are free',
    given: {
      ips: ['10.0.0.10-10.0.0.12', '10.0.0.20'],
      wanted: [wants(web, 3)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.14'], { number: '3' })],
      records: [record('10.0.0.13', 'w')],
    },
    expected: ['change w 10.0.0.10-10.0.0.13'],
  },
  {
    name: 'another uid, reclaim or number is marked on the pool',
    given: { wanted: [wants(web, 1, { reclaim: false })], pools: [poolOf(web, 'w', ['10.0.0.10'])] },
    expected: ['change w 10.0.0.10'],
  },
  {
    name: 'the application is gone, and so is its pool',
    given: { pools: [poolOf(web, 'w', ['10.0.0.10'])], records: [record('10.0.0.10', 'w', 'Cooling')] },
    expected: ['delete w'],
  },
  {
    name: 'not while an address is held',
    given: { pools: [poolOf(web, 'w', ['10.0.0.10'])], records: [record('10.0.0.10', 'w', 'Retained')] },
    expected: [],
  },
  {
    name: 'not if it is to stay',
    given: { pools: [poolOf(web, 'w', ['10.0.0.10'], { reclaim: false })] },
    expected: [],
  },
  {
    name: 'a pool that was to stay keeps nothing without addresses',
    given: { pools: [poolOf(web, 'w', [], { reclaim: false })] },
    expected: ['delete w'],
  },
  {
    name: 'a pool that was to stay is not emptied by a later look at its neighbours',
    given: {
      pools: [
        poolOf(db, 'd', ['10.0.0.10'], { reclaim: false }),
        poolOf(web, 'w', ['10.0.0.10'], { reclaim: false, createdAt: LATER }),
      ],
    },
    expected: [],
  },
  {
    name: 'not while nobody knows what the application wants',
    given: { pools: [poolOf(web, 'w', ['10.0.0.10'])], unclear: [web.application] },
    expected: [],
  },
  {
    name: 'never a pool that somebody made, or of another subnet',
    given: { pools: [manualPool('m', ['10.0.0.10']), poolOf(keyOf('web', 1, { subnet: 'lab' }), 'l', ['10.0.0.11'])] },
    expected: [],
  },
  {
    name: 'a pool that is to stay comes back to the re-created application',
    given: {
      wanted: [wants(keyOf('web', 2), 1, { reclaim: false })],
      pools: [poolOf(web, 'w', ['10.0.0.10'], { reclaim: false })],
    },
    expected: ['change w 10.0.0.10'],
  },
  {
    name: 'a pool that goes with its application does not come back',
    given: {
      wanted: [wants(keyOf('web', 2), 1)],
      pools: [poolOf(web, 'w', ['10.0.0.10'])],
      records: [record('10.0.0.10', 'w')],
    },
    expected: ['create auto4-web-eth0-web2 10.0.0.11'],
  },
  {
    name: 'unless its pods are those of the new application (orphaned and adopted)',
    given: {
      wanted: [wants(keyOf('web', 2), 1)],
      pools: [poolOf(web, 'w', ['10.0.0.10'])],
      records: [record('10.0.0.10', 'w')],
      isHeldBy: (pool: string, uid: string) => pool === 'w' && uid === '0-0-web2',
    },
    expected: ['change w 10.0.0.10'],
  },
  {
    name: 'a name that a pool of another subnet has',
    given: { wanted: [wants(web, 1)], isPoolName: (name: string) => name === 'auto4-web-eth0-web1' },
    expected: ['create auto4-web-eth0-web1-770b639819f5586e 10.0.0.10'],
  },
  {
    name: 'no name is left',
    given: { wanted: [wants(web, 1)], isPoolName: () => true },
    expected: ['web: other pools have the names that its pool can have'],
  },
  {
    name: 'a subnet of the other family',
    given: { wanted: [wants(keyOf('web', 1, { family: 6 }), 1)] },
    expected: ['web: it is named for IPv6, and is an IPv4 subnet'],
  },
  {
    name: 'absurd numbers',
    given: { wanted: [wants(web, 1_000_000)] },
    expected: ['web: it asks for 1000000 addresses, one pool has at most 20000'],
  },
  {
    name: 'a subnet that is being deleted gives nothing, and takes back',
    given: {
      metadata: { deletionTimestamp: '2026-11-18T16:00:00Z' },
      wanted: [wants(db, 1), wants(web, 1)],
      pools: [poolOf(web, 'w', ['10.0.0.10-10.0.0.11'], { number: '1' })],
    },
    expected: ['change w 10.0.0.10', 'db: the subnet is being deleted'],
  },
  {
    name: 'a namespace that may not use the subnet',
    given: { wanted: [wants(web, 1)], limits: { ...NO_LIMITS, allowedNamespaces: ['team-*'] } },
    expected: ['web: namespace prod may not use the subnet (annotation ipledger.io/allowed-namespaces)'],
  },
  {
    name: 'a namespace with as many as it may have; pools of deleted applications count',
    given: {
      wanted: [wants(web, 2), wants(keyOf('z'), 1)],
      pools: [poolOf(db, 'd', ['10.0.0.20-10.0.0.22'], { reclaim: false })],
      limits: { ...NO_LIMITS, mostPerNamespace: 4 },
    },
    expected: [
      'create auto4-z-eth0-z1 10.0.0.23',
      'web: required 2, but the pools of namespace prod have 3 of at most 4 addresses (annotation ipledger.io/max-ips-per-namespace)',
    ],
  },
  {
    name: 'what the pools of a namespace dropped a moment ago counts for it, also of deleted pools',
    given: {
      wanted: [wants(web, 1), wants(keyOf('z'), 3)],
      pools: [poolOf(web, 'w', ['10.0.0.10'], { dropped: ['10.0.0.11-10.0.0.12'] })],
      gone: [poolOf(db, 'd', [], { dropped: ['10.0.0.20'] })],
      limits: { ...NO_LIMITS, mostPerNamespace: 6 },
    },
    expected: [
      'z: required 3, but the pools of namespace prod have 4 of at most 6 addresses (annotation ipledger.io/max-ips-per-namespace)',
    ],
  },
  {
    name: 'a pool of a namespace that has all it may have takes back what it dropped, and no more than that',
    given: {
      wanted: [wants(web, 3), wants(keyOf('z'), 1)],
      pools: [poolOf(web, 'w', ['10.0.0.20'], { dropped: ['10.0.0.25-10.0.0.26'] })],
      limits: { ...NO_LIMITS, mostPerNamespace: 3 },
    },
    expected: [
      'change w 10.0.0.20 10.0.0.25-10.0.0.26',
      'z: required 1, but the pools of namespace prod have 3 of at most 3 addresses (annotation ipledger.io/max-ips-per-namespace)',
    ],
  },
  {
    name: 'what a deleted pool had goes to no other application yet, and to the same one at once',
    given: {
      ips: ['10.0.0.10-10.0.0.12'],
      wanted: [wants(db, 1), wants(web, 2)],
      gone: [poolOf(web, 'w', [], { dropped: ['10.0.0.10-10.0.0.12'] })],
    },
    expected: ['create auto4-web-eth0-web1 10.0.0.10-10.0.0.11', 'db: required 1 more for 1 in all, left 0'],
  },
  {
    name: 'a re-created application of the same name is another one',
    given: {
      ips: ['10.0.0.10-10.0.0.12'],
      wanted: [wants(keyOf('web', 2), 1)],
      gone: [poolOf(web, 'w', [], { dropped: ['10.0.0.10-10.0.0.12'] })],
    },
    expected: ['web: required 1 more for 1 in all, left 0'],
  },
  {
    name: 'what a deleted pool had that cannot be decoded, or that was not made for an application, waits too',
    given: {
      ips: ['10.0.0.10-10.0.0.11'],
      wanted: [wants(web, 1)],
      gone: [
        { pool: null, dropped: TEN },
        { ...manualPool('m', []), dropped: IntervalSet.of([parseRange('10.0.0.11')]) },
      ],
    },
    expected: ['web: required 1 more for 1 in all, left 0'],
  },
  {
    name: 'what two pools dropped goes back to neither of them yet',
    given: {
      ips: ['10.0.0.10-10.0.0.12'],
      wanted: [wants(db, 0), wants(web, 2)],
      pools: [
        poolOf(web, 'w', ['10.0.0.12'], { dropped: ['10.0.0.10-10.0.0.11'] }),
        poolOf(db, 'd', [], { dropped: ['10.0.0.10'] }),
      ],
    },
    expected: ['change w 10.0.0.11-10.0.0.12'],
  },
  {
    name: 'limits that cannot be read',
    given: { wanted: [wants(web, 1)], limits: 'annotation x is wrong' },
    expected: ['web: annotation x is wrong'],
  },
])('$name', ({ given, expected }) => {
  expect(describePlan(planAutoPools(buildSituation(given)))).toEqual(expected);
});

test('two applications whose names are cut to the same one get two pools at once', () => {
  const long = (end: string) => keyOf('x', 1, { application: { ...web.application, name: 'n'.repeat(252) + end } });
  const { steps } = planAutoPools(buildSituation({ wanted: [wants(long('a'), 1), wants(long('b'), 1)] }));
  expect(new Set(steps.map(({ name }) => name)).size).toBe(2);
});

test.each([
  { name: 'more in use than wanted', wanted: [wants(web, 0)], records: [record('10.0.0.10', 'w')], expected: ['w'] },
  { name: 'unwanted and in use', wanted: [], records: [record('10.0.0.10', 'w')], expected: ['w'] },
  { name: 'nothing in use', wanted: [wants(web, 0)], records: [], expected: [] },
])('a pool waits for addresses to come back: $name', ({ wanted, records, expected }) => {
  const pools = [poolOf(web, 'w', ['10.0.0.10-10.0.0.11'])];
  expect([...planAutoPools(buildSituation({ wanted, records, pools })).waiting]).toEqual(expected);
});

test('a pool waits for an address that an earlier pool has too, while its own pod holds it', () => {
  const pools = [poolOf(web, 'w', ['10.0.0.10'], { createdAt: LATER }), manualPool('m', ['10.0.0.10'])];
  const situation = buildSituation({ wanted: [wants(web, 1)], records: [record('10.0.0.10', 'w')], pools });
  expect(planAutoPools(situation)).toMatchObject({ steps: [], waiting: new Set(['w']) });
});

test('a subnet of many applications is planned without comparing each with the pool of every other', () => {
  const keys = Array.from({ length: 400 }, (_, index) => keyOf(`app${index}`));
  let comparisons = 0;
  const pools = keys.map((key, index) => {
    const { pool, ...rest } = poolOf(key, `p${index}`, []);
    const count = () => {
      comparisons += 1;
      return pool.family;
    };
    const counted = Object.defineProperty({ ...pool }, 'family', { get: count });
    return { ...rest, pool: counted };
  });
  expect(planAutoPools(buildSituation({ wanted: keys.map((key) => wants(key, 0)), pools })).steps).toEqual([]);
  expect(comparisons).toBeLessThan(10 * keys.length);
});

/** So many addresses that lie alone, from 10.0.0.0. */
const everySecond = (count: number) =>
  Array.from({ length: count }, (_, index) => `10.0.${index >> 7}.${(2 * index) & 255}`);
const LARGE = { spec: { subnet: '10.0.0.0/16' }, ips: ['10.0.0.0-10.0.15.255'] };

test('a pool that shrinks has no more ranges than a pool may have, and goes on when addresses come back', () => {
  const pool = poolOf(web, 'w', ['10.0.0.10'], { number: '2048' });
  const records = everySecond(2_048).map((address) => record(address, 'w'));
  const planWith = (addresses: IntervalSet) =>
    planAutoPools(
      buildSituation({
        ...LARGE,
        wanted: [wants(web, 2_048)],
        pools: [{ ...pool, pool: { ...pool.pool, addresses } }],
        records,
      }),
    );
  const { steps, waiting } = planWith(IntervalSet.of([parseRange('10.0.0.0-10.0.15.255')]));
  const [step] = steps;
  if (step?.do !== 'change') return expect.unreachable();
  expect(step.addresses.intervals()).toHaveLength(1_000);
  expect(waiting).toContain('w');
  expect(planWith(step.addresses).steps).toEqual([]);
});

test('addresses that lie alone are not put together to more ranges than a pool may have', () => {
  const plan = (count: number) =>
    describePlan(
      planAutoPools(buildSituation({ ...LARGE, reserved: everySecond(2_048), wanted: [wants(web, count)] })),
    );
  expect(plan(1_001)).toEqual(['web: what is free is in too many pieces for 1001 addresses']);
  expect(plan(2_049)).toEqual(['web: required 2049 more for 2049 in all, left 2048']);
});

test('the pools are looked at a bounded number of times each, also when all of them grow and dropped something', () => {
  const countLooks = (size: number) => {
    let looks = 0;
    const pools = Array.from({ length: size }, (_, i) => {
      const [ips, gone] = [[`10.0.0.${10 + 4 * i}`], [`10.0.0.${11 + 4 * i}`]];
      const { dropped, ...rest } = poolOf(keyOf(`app-${i}`), `w-${i}`, ips, { dropped: gone });
      return {
        ...rest,
        get dropped() {
          looks += 1;
          return dropped;
        },
      };
    });
    const wanted = pools.map((_, i) => wants(keyOf(`app-${i}`), 3));
    const plan = planAutoPools(buildSituation({ ips: ['10.0.0.10-10.0.0.254'], pools, wanted }));
    expect(plan.steps).toHaveLength(size);
    return looks;
  };
  expect(countLooks(60)).toBeLessThanOrEqual(2 * countLooks(30));
});
