import { expect, test } from 'vitest';
import type { AutoPoolStep } from '#controller/allot/plan-auto-pools.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type FailureKind, failure } from '#pkg/kube/objects/outcome.ts';
import { keyOf, wants } from '#test/support/build-situation.ts';
import { sortFailed } from './refused-steps.ts';

const wanted = wants(keyOf('web'), 1);
const create: AutoPoolStep = { do: 'create', name: 'w', wanted, addresses: IntervalSet.EMPTY };
const remove: AutoPoolStep = { do: 'delete', name: 'w', application: wanted.key.application };
const thrown = (because: FailureKind) => new FailedRequest('create pool w', failure(because, 'no such pools here'));
const why = 'the API server refuses its pool: no such pools here';

test.each<{ name: string; step: AutoPoolStep; because: FailureKind; refused: object[]; failed: number }>([
  { name: 'a policy', step: create, because: 'Forbidden', refused: [{ wanted, why }], failed: 0 },
  { name: 'a rule of the CRD', step: create, because: 'Invalid', refused: [{ wanted, why }], failed: 0 },
  { name: 'a webhook that is away', step: create, because: 'ServerError', refused: [], failed: 1 },
  { name: 'no answer', step: create, because: 'Unknown', refused: [], failed: 1 },
  {
    name: 'a pool that came into use before it was deleted',
    step: remove,
    because: 'Forbidden',
    refused: [],
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
