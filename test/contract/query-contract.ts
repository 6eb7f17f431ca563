import { describe, expect, test } from 'vitest';
import type { Ledger, RecordQuery } from '#pkg/ledger/ledger.ts';
import { holderKey, type IpRecord } from '#pkg/record/ip-record.ts';
import { expectFailure, type MakeLedger, taken } from './ledger-resource.ts';
import { heldBy, holderOf, specOf } from './record-spec.ts';

const POOL_B = { kind: 'SpiderIPPool', name: 'pool-b', uid: 'pool-uid-b' } as const;

export function describeQueries(makeLedger: MakeLedger): void {
  describe('queries', () => {
    test('an empty ledger returns nothing', async () => {
      await using resource = await makeLedger();
      const { ledger } = resource;
      expect(await ledger.get('10.0.0.1')).toBeNull();
      expect(await ledger.byHolder('Pod/prod/web-0/eth0/4')).toEqual([]);
      expect(await ledger.byNode('worker-1')).toEqual([]);
      expect(await ledger.list({ limit: 10 })).toEqual([]);
      expect(await ledger.takenOf('pool-a')).toEqual([]);
    });

    test('the families and interfaces of a holder have separate records', async () => {
      await using resource = await makeLedger();
      const v4 = await taken(resource.ledger, specOf('10.0.0.1'));
      const v6 = await taken(resource.ledger, specOf('fd00::1'));
      const net1 = await taken(resource.ledger, heldBy(specOf('10.0.0.2'), { interface: 'net1' }));
      await taken(resource.ledger, heldBy(specOf('10.0.0.3'), { name: 'web-1' }));
      expect(await resource.ledger.byHolder(holderKey(holderOf(), 4))).toEqual([v4]);
      expect(await resource.ledger.byHolder(holderKey(holderOf(), 6))).toEqual([v6]);
      expect(await resource.ledger.byHolder(holderKey(holderOf({ interface: 'net1' }), 4))).toEqual([net1]);
    });

    test('a record that moved is found only under its new node and pool', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, specOf('10.0.0.1'));
      const moved = await resource.ledger.amend(seen, { ...heldBy(seen.spec, { node: 'worker-2' }), pool: POOL_B });
      expect(moved.done).toBe(true);
      expect(await resource.ledger.byNode('worker-1')).toEqual([]);
      expect(await resource.ledger.byNode('worker-2')).toHaveLength(1);
      expect(await resource.ledger.takenOf('pool-a')).toEqual([]);
      expect(await resource.ledger.takenOf('pool-b')).toEqual([
        { value: 0x0a000001n, family: 4, domain: 'default', state: 'Allocated', node: 'worker-2' },
      ]);
    });

    test('the largest and the smallest addresses are returned exactly', async () => {
      await using resource = await makeLedger();
      for (const address of ['::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '8000::']) {
        await taken(resource.ledger, specOf(address));
      }
      const values = (await resource.ledger.takenOf('pool-a')).map(({ value }) => value);
      expect(new Set(values)).toEqual(new Set([1n, (1n << 128n) - 1n, 1n << 127n]));
    });

    test('the same number in two domains or families is two addresses', async () => {
      await using resource = await makeLedger();
      await taken(resource.ledger, specOf('10.0.0.7', { domain: 'blue' }));
      await taken(resource.ledger, specOf('::a00:7'));
      const found = await resource.ledger.takenOf('pool-a');
      expect(found).toHaveLength(2);
      const one = { value: 0x0a000007n, state: 'Allocated', node: 'worker-1' };
      expect(found).toContainEqual({ ...one, family: 4, domain: 'blue' });
      expect(found).toContainEqual({ ...one, family: 6, domain: 'default' });
    });

    test('a list comes in pages, in the order of names, with every record once', async () => {
      await using resource = await makeLedger();
      const { ledger } = resource;
      for (let last = 1; last <= 12; last++) {
        const spec = heldBy(specOf(`10.0.0.${last}`), { node: `worker-${last % 3}` });
        await taken(ledger, last % 2 === 0 ? spec : { ...spec, pool: POOL_B });
      }
      for (const filter of [{}, { pool: 'pool-b' }, { node: 'worker-1' }, { pool: 'pool-b', node: 'worker-1' }]) {
        const all = await ledger.list({ ...filter, limit: 100 });
        expect(all.map(({ name }) => name)).toEqual(all.map(({ name }) => name).sort());
        expect(await readPages(ledger, { ...filter, limit: 2 })).toEqual(all);
      }
      expect(await ledger.list({ limit: 100 })).toHaveLength(12);
      expect(await ledger.list({ pool: 'pool-b', node: 'worker-1', limit: 100 })).toHaveLength(2);
    });

    test('a record of the list can be used for a write', async () => {
      await using resource = await makeLedger();
      await taken(resource.ledger, specOf('10.0.0.1'));
      for (const record of await resource.ledger.list({ limit: 10 })) {
        expect(await resource.ledger.release(record)).toEqual({ done: true });
      }
    });
  });

  describe('close', () => {
    test('no call works after close, and a second close does nothing', async () => {
      await using resource = await makeLedger();
      const { ledger } = resource;
      const seen = await taken(ledger, specOf('10.0.0.1'));
      await ledger.close();
      await ledger.close();
      await expectFailure(ledger.create(specOf('10.0.0.2')), 'internal');
      await expectFailure(ledger.amend(seen, heldBy(seen.spec, { attachGeneration: 2 })), 'internal');
      await expectFailure(ledger.release(seen), 'internal');
      await expectFailure(ledger.get('10.0.0.1'), 'internal');
      await expectFailure(ledger.byHolder('k'), 'internal');
      await expectFailure(ledger.byNode('n'), 'internal');
      await expectFailure(ledger.list({ limit: 1 }), 'internal');
      await expectFailure(ledger.takenOf('pool-a'), 'internal');
    });
  });
}

async function readPages(ledger: Ledger, query: RecordQuery): Promise<IpRecord[]> {
  const page = await ledger.list(query);
  const last = page.at(-1);
  if (last === undefined) return [];
  expect(page.length).toBeLessThanOrEqual(query.limit);
  expect(page.every(({ name }) => name > (query.after ?? ''))).toBe(true);
  return [...page, ...(await readPages(ledger, { ...query, after: last.name }))];
}
