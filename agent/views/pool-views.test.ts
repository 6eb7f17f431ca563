import { expect, test } from 'vitest';
import { NodeIndex } from '#agent/node/node-index.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
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
    pools: new Map([[pool.name, pool]]),
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
