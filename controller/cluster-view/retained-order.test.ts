import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { RetainedOrder } from './retained-order.ts';

const record = (
  address: string,
  resourceVersion: string,
  namespace = 'prod',
  state: 'Retained' | 'Allocated' = 'Retained',
) => ({ ...buildRecord({ address, state, holder: { namespace } }), resourceVersion });

test('the order is that of the last writes, in each namespace for itself', () => {
  const order = new RetainedOrder();
  const [late, early, other] = [record('10.0.0.1', '100'), record('10.0.0.2', '9'), record('10.0.0.3', '1', 'lab')];
  for (const it of [late, early, other]) order.put(it);
  expect([late, early, other].map((it) => order.countBefore(it))).toEqual([1, 0, 0]);
});

test('what is not Retained is not counted, and what is gone no more', () => {
  const order = new RetainedOrder();
  const [first, second, held] = [
    record('10.0.0.1', '1'),
    record('10.0.0.2', '2'),
    record('10.0.0.3', '0', 'prod', 'Allocated'),
  ];
  for (const it of [first, second, held]) order.put(it);
  expect(order.countBefore(second)).toBe(1);
  order.remove(first);
  expect(order.countBefore(second)).toBe(0);
  order.remove(second);
  expect(order.countBefore(second)).toBe(0);
});

test('a version that is no number counts as old', () => {
  const order = new RetainedOrder();
  const [odd, first] = [record('10.0.0.1', 'x'), record('10.0.0.2', '1')];
  for (const it of [first, odd]) order.put(it);
  expect([odd, first].map((it) => order.countBefore(it))).toEqual([0, 1]);
});
