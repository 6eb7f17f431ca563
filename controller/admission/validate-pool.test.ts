import { describe, expect, test } from 'vitest';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { metadataOf } from './judge-change.ts';
import { Reservations } from './reservations.ts';
import type { AdmissionRequest, ReviewFields } from './review.ts';
import { type PoolValidation, validatePool } from './validate-pool.ts';
import { type AdmissionVerdict, toFieldError } from './verdict.ts';

const object = (name: string, spec: object = {}, metadata: object = {}): ReviewFields => ({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderIPPool',
  metadata: { name, ...metadata },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.9'], ...spec },
});

interface World {
  readonly pools?: readonly PoolRanges[];
  readonly taken?: readonly { readonly address: string; readonly state: RecordState }[];
}

/** A world in which nothing that is admitted is ever stored, and no time passes. */
const given = ({ pools = [], taken = [] }: World = {}, more: Partial<PoolValidation> = {}): PoolValidation => ({
  enableIPv4: true,
  enableIPv6: true,
  enableSpiderSubnet: false,
  enableValidatingResourcesDeletedWebhook: true,
  world: { pools: async () => pools, subnets: async () => [] },
  ledger: {
    takenOf: async () =>
      taken.map(({ address, state }) => ({ ...parseAddress(address), domain: 'default', state, node: 'worker-1' })),
    get: async (name) => buildRecord({ address: name, holder: { namespace: 'prod', name: 'web-0' } }),
  },
  reservations: new Reservations(
    () => 0,
    async () => {},
  ),
  ...more,
});

const request = (more: Partial<AdmissionRequest>): AdmissionRequest => ({
  uid: 'u',
  name: 'p',
  operation: 'CREATE',
  isDryRun: false,
  object: null,
  oldObject: null,
  ...more,
});
const create = (it: ReviewFields, isDryRun = false) => request({ object: it, isDryRun });
const update = (oldObject: ReviewFields, it: ReviewFields) => request({ operation: 'UPDATE', object: it, oldObject });
const remove = (name: string, oldObject: ReviewFields) => request({ operation: 'DELETE', name, oldObject });
const textOf = (verdict: AdmissionVerdict) => {
  if (verdict.allowed) return 'allowed';
  if ('forbidden' in verdict) return verdict.forbidden;
  return `${verdict.invalid.field}: ${verdict.invalid.type}: ${verdict.invalid.message}`;
};
const judge = async (asked: AdmissionRequest, world: PoolValidation) => textOf(await validatePool(asked, world));

describe('pools that are not stored yet', () => {
  /** What was admitted is stored while the next one waits. */
  const storing = (...pools: PoolRanges[]): PoolValidation => {
    const reservations = new Reservations(
      () => 0,
      async () => void pools.push(...reservations.pools.beyond(pools)),
    );
    return given({ pools }, { reservations });
  };

  test('of 20 at once with one range one is allowed, the others are told why', async () => {
    const world = storing();
    const names = Array.from({ length: 20 }, (_, n) => `pool-${n}`);
    const verdicts = await Promise.all(names.map((name) => judge(create(object(name)), world)));
    expect(verdicts[0]).toBe('allowed');
    for (const verdict of verdicts.slice(1)) {
      expect(verdict).toMatch(/^spec.ips: Forbidden: overlap with IPPool pool-0: /);
    }
  });

  test('a review that is not followed by a store is in nobody’s way', async () => {
    const world = given();
    expect(await judge(create(object('a')), world)).toBe('allowed');
    expect(await judge(create(object('b')), world)).toBe('allowed');
  });

  test('a change that was asked about after its pool was gone is in nobody’s way', async () => {
    const world = given();
    expect(await judge(update(object('a'), object('a', { disable: true })), world)).toBe('allowed');
    expect(await judge(create(object('b')), world)).toBe('allowed');
  });

  test('the repair of a pool that could not be read stands until it is stored', async () => {
    const world = storing({ ...buildPool({ name: 'a', ips: [] }), uid: '' });
    const broken = object('a', { ips: ['10.0.0.9-10.0.0.1'] });
    expect(await judge(update(broken, object('a')), world)).toBe('allowed');
    expect(await judge(create(object('b')), world)).toMatch(/overlap with IPPool a: /);
  });

  test('a dry run is in nobody’s way', async () => {
    const world = given();
    expect(await judge(create(object('a'), true), world)).toBe('allowed');
    expect(await judge(create(object('b')), world)).toBe('allowed');
  });

  test('a pool that was refused is in nobody’s way', async () => {
    const world = given({ pools: [buildPool({ name: 'there', ips: ['10.0.0.9'] })] });
    expect(await judge(create(object('a')), world)).toMatch(/IPPool there/);
    expect(await judge(create(object('b', { ips: ['10.0.0.1-10.0.0.8'] })), world)).toBe('allowed');
  });

  test('one that was deleted again is in nobody’s way', async () => {
    const world = given();
    await judge(create(object('a')), world);
    expect(await judge(remove('a', object('a')), world)).toBe('allowed');
    expect(await judge(create(object('b')), world)).toBe('allowed');
  });
});

describe('an annotation that cannot be read is refused before it is stored', () => {
  const annotated = (annotations: object) => object('a', {}, { annotations });
  const COOLDOWN = 'ipledger.io/reuse-cooldown';

  test.each([
    { name: 'a cooldown', annotations: { [COOLDOWN]: '5min' }, says: /reuse-cooldown"\]: Invalid: .*5min/ },
    {
      name: 'a switch',
      annotations: { 'ipledger.io/detect-gateway': 'yes' },
      says: /detect-gateway"\]: Invalid: .*yes/,
    },
    { name: 'a domain', annotations: { 'ipledger.io/domain': 'Not_One' }, says: /domain"\]: / },
  ])('$name, in a new pool and in a change of metadata alone', async ({ annotations, says }) => {
    const judged = async (request: AdmissionRequest) =>
      judge(request, given()).catch((thrown: unknown) => {
        const refusal = toFieldError(thrown);
        return refusal === null ? 'a fault' : textOf(refusal);
      });
    expect(await judged(create(annotated(annotations)))).toMatch(says);
    expect(await judged(update(object('a'), annotated(annotations)))).toMatch(says);
  });

  test('but one that is there already does not stand in the way of other changes', async () => {
    const before = annotated({ [COOLDOWN]: '5min', 'ipledger.io/detect-gateway': 'yes' });
    expect(await judge(update(before, { ...before, metadata: { ...metadataOf(before), labels: {} } }), given())).toBe(
      'allowed',
    );
    expect(await judge(update(before, annotated({ 'ipledger.io/detect-gateway': 'yes' })), given())).toBe('allowed');
    const leaving = object('a', {}, { deletionTimestamp: 'now' });
    const left = object('a', {}, { deletionTimestamp: 'now', annotations: { [COOLDOWN]: '5min' } });
    expect(await judge(update(leaving, left), given())).toBe('allowed');
  });

  test('and a domain that is none may be repaired', async () => {
    const before = annotated({ 'ipledger.io/domain': 'Not_One' });
    expect(await judge(update(before, annotated({ 'ipledger.io/domain': 'blue' })), given())).toBe('allowed');
  });
});

describe('beside a subnet', () => {
  const subnet = (cidr: string, ...ips: string[]) =>
    decodeSpiderSubnet({
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderSubnet',
      metadata: { name: 's', uid: 'uid-of-s' },
      spec: { subnet: cidr, ips },
    });
  const beside = (it: ReturnType<typeof subnet>, enableSpiderSubnet = true) =>
    given(
      {},
      {
        enableSpiderSubnet,
        world: { pools: async () => [], subnets: async () => [{ ...it, object: {} as KubeObject }] },
      },
    );

  test.each([
    { name: 'of its network, inside', it: subnet('10.0.0.0/24', '10.0.0.1-10.0.0.99'), says: /^allowed$/ },
    {
      name: 'of its network, but without its addresses',
      it: subnet('10.0.0.0/24', '10.0.0.5-10.0.0.99'),
      says: /spec.ips: Forbidden: add some IP ranges \[10.0.0.1-10.0.0.4\] that are not contained in controller Subnet s/,
    },
    {
      name: 'that it crosses',
      it: subnet('10.0.0.0/16', '10.0.0.1-10.0.0.99'),
      says: /spec.subnet: Invalid: overlap with Subnet s which 'spec.subnet' is 10.0.0.0\/16/,
    },
    { name: 'elsewhere', it: subnet('10.7.0.0/16'), says: /^allowed$/ },
  ])('$name', async ({ it, says }) => {
    expect(await judge(create(object('a')), beside(it))).toMatch(says);
    expect(await judge(create(object('a')), beside(it, false))).toBe('allowed');
  });
});

describe('a change is judged by what it changes', () => {
  const overlapping = given({ pools: [buildPool({ name: 'there', ips: ['10.0.0.5-10.0.0.20'] })] });
  const before = object('a');

  test.each([
    { name: 'a label', after: object('a', {}, { labels: { x: 'y' } }) },
    { name: 'a switch', after: object('a', { disable: true }) },
    { name: 'fewer addresses', after: object('a', { ips: ['10.0.0.1-10.0.0.6'] }) },
    { name: 'other addresses that are free', after: object('a', { ips: ['10.0.0.1-10.0.0.9', '10.0.0.30'] }) },
  ])('a pool that overlaps already may be given $name', async ({ after }) => {
    expect(await judge(update(before, after), overlapping)).toBe('allowed');
  });

  test('but no more of the other’s addresses', async () => {
    expect(await judge(update(before, object('a', { ips: ['10.0.0.1-10.0.0.10'] })), overlapping)).toMatch(
      /overlap with IPPool there: .*both hold 10.0.0.10;/,
    );
  });

  test.each<{ state: RecordState; says: string }>([
    { state: 'Allocated', says: 'spec.ips: Forbidden: remove an IP address 10.0.0.9 that is being used by prod/web-0' },
    { state: 'Retained', says: 'spec.ips: Forbidden: remove an IP address 10.0.0.9 that is being used by prod/web-0' },
    { state: 'Suspect', says: 'spec.ips: Forbidden: remove an IP address 10.0.0.9 that is being used by prod/web-0' },
    { state: 'Cooling', says: 'allowed' },
    { state: 'Quarantined', says: 'allowed' },
  ])('an address that is $state: $says', async ({ state, says }) => {
    const world = given({ taken: [{ address: '10.0.0.9', state }] });
    expect(await judge(update(before, object('a', { ips: ['10.0.0.1-10.0.0.8'] })), world)).toBe(says);
  });

  test('an address that was outside before is not asked for', async () => {
    const world = given({ taken: [{ address: '10.0.0.99', state: 'Allocated' }] });
    expect(await judge(update(before, object('a', { ips: ['10.0.0.1-10.0.0.8'] })), world)).toBe('allowed');
  });

  test('a pool that could not be read may be repaired', async () => {
    const broken = object('a', { ips: ['10.0.0.9-10.0.0.1'] });
    expect(await judge(update(broken, object('a')), given())).toBe('allowed');
    expect(await judge(update(broken, { ...broken, metadata: { name: 'a', labels: { x: 'y' } } }), given())).toBe(
      'allowed',
    );
  });

  test('finalizers of others may be taken from a pool that is being deleted', async () => {
    const leaving = object('a', {}, { deletionTimestamp: 'now', finalizers: ['other.io/x'] });
    expect(await judge(update(leaving, object('a', {}, { deletionTimestamp: 'now' })), given())).toBe('allowed');
  });
});

describe('deletion', () => {
  const used = {
    taken: [
      { address: '10.0.0.1', state: 'Retained' as const },
      { address: '10.0.0.2', state: 'Cooling' as const },
    ],
  };

  test('of a pool in use is refused, with the number', async () => {
    expect(await judge(remove('a', object('a')), given(used))).toBe('cannot delete an IPPool with allocated IPs(1)');
  });

  test('is allowed where that is switched off, and for what is being deleted already', async () => {
    const open = given(used, { enableValidatingResourcesDeletedWebhook: false });
    expect(await judge(remove('a', object('a')), open)).toBe('allowed');
    expect(await judge(remove('a', object('a', {}, { deletionTimestamp: 'now' })), given(used))).toBe('allowed');
  });
});
