import { describe, expect, test } from 'vitest';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { Reservations } from './reservations.ts';
import type { AdmissionRequest } from './review.ts';
import { validatePool } from './validate-pool.ts';
import { validateSubnet } from './validate-subnet.ts';
import type { AdmissionVerdict } from './verdict.ts';

const create = (kind: string, name: string, spec: object): AdmissionRequest => ({
  uid: 'u',
  name,
  operation: 'CREATE',
  isDryRun: false,
  object: { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind, metadata: { name, uid: `uid-of-${name}` }, spec },
  oldObject: null,
});

/** A world in which an admitted object is stored only while a later review waits. */
function slowWorld() {
  const [pools, subnets]: [PoolRanges[], (SpiderSubnet & { object: KubeObject })[]] = [[], []];
  const reservations = new Reservations(
    () => 0,
    async () => {
      pools.push(...reservations.pools.beyond(pools));
      subnets.push(...reservations.subnets.beyond(subnets).map((it) => ({ ...it, object: {} as KubeObject })));
    },
  );
  return {
    enableIPv4: true,
    enableIPv6: true,
    enableSpiderSubnet: true,
    enableValidatingResourcesDeletedWebhook: true,
    world: { pools: async () => pools, subnets: async () => subnets },
    ledger: { takenOf: async () => [], get: async () => null },
    reservations,
  };
}

const textOf = (verdict: AdmissionVerdict) => ('invalid' in verdict ? verdict.invalid.message : 'allowed');

test('of six equal subnets at once one is allowed, though it is not stored yet', async () => {
  const given = slowWorld();
  const names = Array.from({ length: 6 }, (_, n) => `subnet-${n}`);
  const verdicts = await Promise.all(
    names.map((name) => validateSubnet(create('SpiderSubnet', name, { subnet: '10.0.0.0/16' }), given)),
  );
  const [first, ...others] = verdicts.map(textOf);
  expect(first).toBe('allowed');
  for (const other of others) expect(other).toMatch(/^overlap with Subnet subnet-0 /);
});

test('a subnet and a pool that cross, at once: the first is allowed, whichever it is', async () => {
  const subnet = create('SpiderSubnet', 's', { subnet: '10.0.0.0/16' });
  const pool = create('SpiderIPPool', 'p', { subnet: '10.0.0.0/24', ips: ['10.0.0.1'] });
  const subnetFirst = slowWorld();
  const poolSecond = await Promise.all([validateSubnet(subnet, subnetFirst), validatePool(pool, subnetFirst)]);
  expect(poolSecond.map(textOf)).toEqual(['allowed', "overlap with Subnet s which 'spec.subnet' is 10.0.0.0/16"]);
  const poolFirst = slowWorld();
  const subnetSecond = await Promise.all([validatePool(pool, poolFirst), validateSubnet(subnet, poolFirst)]);
  expect(subnetSecond.map(textOf)).toEqual(['allowed', "overlap with IPPool p which 'spec.subnet' is 10.0.0.0/24"]);
});

describe('the limits of a subnet', () => {
  const MOST = 'ipledger.io/max-ips-per-namespace';
  const ALLOWED_IN = 'ipledger.io/allowed-namespaces';
  const limited = (annotations: object, before?: object): AdmissionRequest => {
    const made = create('SpiderSubnet', 's', { subnet: '10.0.0.0/16' });
    const withAnnotations = (it: object) => ({ ...made.object, metadata: { name: 's', uid: 'u', annotations: it } });
    const object = withAnnotations(annotations);
    return before === undefined
      ? { ...made, object }
      : { ...made, operation: 'UPDATE', object, oldObject: withAnnotations(before) };
  };

  test.each([
    { name: 'a new subnet', request: limited({ [MOST]: 'many' }), says: `${MOST}"]: expected a number of addresses` },
    { name: 'a change', request: limited({ [MOST]: '-1' }, { [MOST]: '5' }), says: `${MOST}"]: expected a number` },
    {
      name: 'a list that is none',
      request: limited({ [ALLOWED_IN]: 'prod' }, {}),
      says: `${ALLOWED_IN}"]: expected a list`,
    },
  ])('a bad value is refused in words: $name', async ({ request, says }) => {
    await expect(validateSubnet(request, slowWorld())).rejects.toThrow(says);
  });

  test.each([
    { name: 'good values', request: limited({ [MOST]: '5', [ALLOWED_IN]: '["prod"]' }) },
    { name: 'a bad value that was there before', request: limited({ [MOST]: 'x', note: 'y' }, { [MOST]: 'x' }) },
    { name: 'a bad value that goes', request: limited({}, { [MOST]: 'x' }) },
  ])('allowed: $name', async ({ request }) => {
    expect(await validateSubnet(request, slowWorld())).toEqual({ allowed: true });
  });
});
