import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { admissionHandlers } from './handlers.ts';
import { Reservations } from './reservations.ts';
import type { AdmissionRequest, ReviewFields } from './review.ts';
import { toResponse } from './verdict.ts';

const handlers = admissionHandlers({
  enableIPv4: true,
  enableIPv6: true,
  enableSpiderSubnet: true,
  enableValidatingResourcesDeletedWebhook: true,
  ledger: {
    takenOf: async () => [{ value: 7n, family: 4, domain: 'default', state: 'Allocated', node: 'worker-1' }],
    get: async () => null,
  },
  world: { pools: async () => [buildPool({ name: 'there' })], subnets: async () => [] },
  reservations: new Reservations(
    () => 0,
    async () => {},
  ),
});

const text = fc.oneof(
  fc.constantFrom(
    '10.0.0.0/24',
    '10.1.0.0/16',
    'fd00::/64',
    '10.1.0.5',
    '10.1.0.9-10.1.0.1',
    '10.1.0.1-10.1.0.9',
    'fd00::1',
    '::/0',
  ),
  fc.string({ maxLength: 20 }),
);
const value = fc.oneof(text, fc.array(text, { maxLength: 4 }), fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>);
const spec = fc.record(
  { subnet: value, ips: value, excludeIPs: value, gateway: value, routes: value, ipVersion: value, podAffinity: value },
  { requiredKeys: [] },
);
const metadata = fc.record(
  {
    name: value,
    labels: value,
    annotations: value,
    finalizers: value,
    ownerReferences: value,
    deletionTimestamp: value,
  },
  { requiredKeys: [] },
);
const objectOf = (kind: string): fc.Arbitrary<ReviewFields> =>
  fc.oneof(
    fc.record({
      apiVersion: fc.constant('spiderpool.spidernet.io/v2beta1'),
      kind: fc.constant(kind),
      metadata: fc.oneof(fc.constant({ name: 'p' }), metadata),
      spec,
    }),
    fc.dictionary(fc.string({ maxLength: 8 }), value),
  );

/** Values that break whoever turns them into text. */
const HOSTILE: readonly unknown[] = [{ toString: false }, { toJSON: 1 }, [{ toString: null }], { valueOf: {} }];

function hostile(kind: string, value: unknown): AdmissionRequest {
  const whole = {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind,
    metadata: { name: value },
    spec: { subnet: value },
  };
  return {
    uid: 'u',
    name: '',
    operation: 'UPDATE',
    isDryRun: false,
    object: { spec: { ips: [value] } },
    oldObject: whole,
  };
}

test.each([...handlers])('%s answers every object with a verdict that can be sent', async (_path, { kind, judge }) => {
  const request = fc.record({
    uid: fc.constant('u'),
    name: fc.constant('p'),
    operation: fc.constantFrom<AdmissionRequest['operation']>('CREATE', 'UPDATE', 'DELETE'),
    isDryRun: fc.boolean(),
    object: objectOf(kind),
    oldObject: fc.option(objectOf(kind)),
  });
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      const verdict = await judge(asked);
      const response = JSON.parse(JSON.stringify(toResponse('u', verdict, { kind, name: 'p' })));
      expect(response).toMatchObject({ uid: 'u', allowed: verdict.allowed });
      if (!verdict.allowed) expect(response.status.message.length).toBeGreaterThan(20);
    }),
    { numRuns: 400, examples: HOSTILE.map((subnet) => [hostile(kind, subnet)]) },
  );
});
