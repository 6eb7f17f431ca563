import { expect, test } from 'vitest';
import type { AutoPoolStep } from '#controller/allot/plan-auto-pools.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type FailureKind, failure } from '#pkg/kube/objects/outcome.ts';
import { keyOf, wants } from '#test/support/build-situation.ts';
import { RefusedSteps, sortFailed } from './refused-steps.ts';

const wanted = wants(keyOf('web'), 1);
const create: AutoPoolStep = { do: 'create', name: 'w', wanted, addresses: IntervalSet.EMPTY };
const remove: AutoPoolStep = { do: 'delete', name: 'w', application: wanted.key.application };
const thrown = (because: FailureKind) => new FailedRequest('create pool w', failure(because, 'no such pools here'));
const why = 'the API server refuses its pool: no such pools here';

test.each<{ name: string; step: AutoPoolStep; because: FailureKind; refused: object[]; failed: number }>([
  { name: 'a policy', step: create, because: 'Forbidden', refused: [{ step: create, why }], failed: 0 },
  { name: 'a rule of the CRD', step: create, because: 'Invalid', refused: [{ step: create, why }], failed: 0 },
  { name: 'a webhook that is away', step: create, because: 'ServerError', refused: [], failed: 1 },
  { name: 'no answer', step: create, because: 'Unknown', refused: [], failed: 1 },
  {
    name: 'a pool that came into use before it was deleted',
    step: remove,
    because: 'Forbidden',
    refused: [{ step: remove, why }],
    failed: 0,
  },
])('$name', ({ step, because, refused, failed }) => {
  const sorted = sortFailed([{ step, thrown: thrown(because) }]);
  expect(sorted.refused).toEqual(refused);
  expect(sorted.failed).toHaveLength(failed);
});

test('a fault of our own is no refusal', () => {
  const fault = new Error('a fault');
  expect(sortFailed([{ step: create, thrown: fault }])).toEqual({ refused: [], failed: [fault] });
});

test('a refusal is a shortage only after it has lasted, and is tried again soon until then', () => {
  const steps = new RefusedSteps();
  const refused = [{ step: create, why }];
  const note = (all: typeof refused, nowMs: number) => {
    const { lasting, againInMs } = steps.note('office', all, nowMs);
    return [lasting.length, againInMs];
  };
  expect(note(refused, 1_000)).toEqual([0, 100]);
  expect(note(refused, 1_800)).toEqual([0, 800]);
  expect(note(refused, 4_000)).toEqual([1, 30_000]);
  expect(note([...refused, { step: { ...create, name: 'v' }, why }], 4_100)).toEqual([1, 100]);
  expect(note([], 5_000)).toEqual([0, null]);
  expect(note(refused, 9_000)).toEqual([0, 100]);
});
