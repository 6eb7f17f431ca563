import { describe, expect, test } from 'vitest';
import { NodeIndex } from '#agent/node/node-index.ts';
import { catalogPools } from '#agent/sources/pool-catalog.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { FixedCatalog } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { PoolViews } from './pool-views.ts';

test.each([
  { name: 'the address itself', spec: specOf('10.0.0.7'), free: 0n },
  { name: 'the number in another domain', spec: specOf('10.0.0.7', { domain: 'blue' }), free: 1n },
  { name: 'the number in the other family', spec: specOf('::a00:7'), free: 1n },
])('of a pool with one address $free are free beside $name under its name', async ({ spec, free }) => {
  const ledger = createMemoryLedger();
  await ledger.create(spec);
  const pool = buildPool({ ips: ['10.0.0.7'] });
  const reserved = { 4: IntervalSet.EMPTY, 6: IntervalSet.EMPTY };
  const snapshot = {
    ...catalogPools([pool]),
    overlaps: new Map(),
    reservedIps: [],
    reserved,
    problems: [],
  };
  const catalog = { current: () => snapshot, onChange: () => ({ [Symbol.dispose]() {} }) };
  const view = new PoolViews(catalog, ledger, new NodeIndex(() => 0), 'worker-1').of(pool);
  await view.reload();
  expect(view.freeCount).toBe(free);
});

describe('the view of a pool that was changed', () => {
  const reserved = (ips: string) => [
    { name: 'gateways', family: 4 as const, addresses: IntervalSet.of([parseRange(ips)]), isTerminating: false },
  ];

  async function openViews(ips: string, reservedIps: ReturnType<typeof reserved> = []) {
    const ledger = createMemoryLedger();
    const pool = buildPool({ name: 'pool-a', ips: [ips] });
    const catalog = new FixedCatalog([pool], reservedIps);
    const views = new PoolViews(catalog, ledger, new NodeIndex(() => 0), 'worker-1');
    const load = async () => {
      const view = views.of(pool);
      await view.reload();
      return view;
    };
    const current = () => views.known('pool-a') ?? expect.fail('there is no view');
    return { ledger, catalog, load, current };
  }

  test('knows what was taken of it, also of what was reserved', async () => {
    const { ledger, catalog, load, current } = await openViews('10.0.0.7-10.0.0.9', reserved('10.0.0.8'));
    for (const address of ['10.0.0.7', '10.0.0.8']) await ledger.create(specOf(address));
    await load();
    catalog.change([buildPool({ name: 'pool-a', ips: ['10.0.0.7-10.0.0.10'] })]);
    expect(current().isLoaded).toBe(true);
    expect(current().freeCount).toBe(2n);
  });

  test('gets back what was picked before the change and not written', async () => {
    const { catalog, load, current } = await openViews('10.0.0.7');
    const before = await load();
    const value = before.pick() ?? expect.fail('nothing is free');
    catalog.change([buildPool({ name: 'pool-a', ips: ['10.0.0.7-10.0.0.8'] })]);
    expect(current().freeCount).toBe(1n);
    before.putBack(value);
    expect(current().freeCount).toBe(2n);
  });

  test('knows nothing where the pool was made anew under its name', async () => {
    const { catalog, load, current } = await openViews('10.0.0.7');
    await load();
    catalog.change([buildPool({ name: 'pool-a', uid: 'another', ips: ['10.0.0.7'] })]);
    expect(current().isLoaded).toBe(false);
  });
});
