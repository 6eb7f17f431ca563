import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { highestAddress } from '#pkg/ip/address.ts';
import { cidrContains, enclosingCidr, formatCidr } from '#pkg/ip/cidr.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { decodeRecordSpec } from '#pkg/record/decode-record.ts';
import { decodePool } from './decode-pool.ts';
import { decodeReservedIp } from './decode-reserved-ip.ts';

const POOL = {
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderIPPool',
  metadata: {
    name: 'a',
    uid: 'u',
    labels: { x: 'y' },
    annotations: { 'ipledger.io/domain': 'blue', 'ipledger.io/reuse-cooldown': '5m' },
  },
  spec: {
    ipVersion: 4,
    subnet: '10.0.0.0/24',
    ips: ['10.0.0.10-10.0.0.20', '10.0.0.30'],
    excludeIPs: ['10.0.0.12'],
    gateway: '10.0.0.1',
    routes: [{ dst: '10.7.0.0/16', gw: '10.0.0.2' }],
    podAffinity: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
    nodeName: ['n'],
    default: true,
  },
};
const RESERVED = { ...POOL, kind: 'SpiderReservedIP', spec: { ipVersion: 4, ips: ['10.0.0.1', '10.0.0.2-10.0.0.9'] } };
const RECORD = {
  address: '10.0.2.50',
  prefix: 24,
  gateway: '10.0.2.1',
  domain: 'default',
  pool: { kind: 'SpiderIPPool', name: 'pool-a', uid: 'u1' },
  state: 'Cooling',
  until: '2026-11-16T10:00:00Z',
  holder: {
    kind: 'Pod',
    namespace: 'p',
    name: 'w',
    interface: 'eth0',
    attachGeneration: 1,
    node: 'n',
    owner: { apiVersion: 'v1', kind: 'Job', name: 'j' },
  },
  routes: [{ dst: '10.7.0.0/16', gw: '10.0.2.2' }],
};

const DECODERS = [
  ['decodePool', decodePool, POOL],
  ['decodeReservedIp', decodeReservedIp, RESERVED],
  ['decodeRecordSpec', decodeRecordSpec, RECORD],
] as const;

type Branch = Record<string, unknown>;

function branchesOf(value: unknown): Branch[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Branch, ...Object.values(value).flatMap(branchesOf)];
}

/** The valid value with one field, anywhere, replaced or added. */
function mutantsOf(valid: object): fc.Arbitrary<unknown> {
  const draw = fc.tuple(
    fc.nat(),
    fc.nat(),
    fc.option(fc.constantFrom('extra', '__proto__', 'constructor', '0')),
    fc.jsonValue(),
  );
  return draw.map(([whichBranch, whichKey, added, replacement]) => {
    const mutant = structuredClone(valid);
    const branches = branchesOf(mutant);
    const branch = branches[whichBranch % branches.length] ?? {};
    const keys = Object.keys(branch);
    const key = (Array.isArray(branch) ? null : added) ?? keys[whichKey % keys.length] ?? '0';
    Object.defineProperty(branch, key, { value: replacement, enumerable: true, configurable: true, writable: true });
    return mutant;
  });
}

function expectAnswerOrBadInput(decode: (value: unknown) => unknown, value: unknown): void {
  try {
    decode(value);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(IpamError);
    expect((thrown as IpamError).reason).toBe('bad-input');
    expect((thrown as IpamError).message.length).toBeLessThan(1_000);
  }
}

test.each(DECODERS)('%s takes its valid sample', (_, decode, valid) => {
  expect(() => decode(valid)).not.toThrow();
});

test.each(DECODERS)('%s answers any JSON with a value or a bad input', (_, decode) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => expectAnswerOrBadInput(decode, value)));
});

test.each(DECODERS)('%s answers any mutant of a valid value with a value or a bad input', (_, decode, valid) => {
  fc.assert(
    fc.property(mutantsOf(valid), (value) => expectAnswerOrBadInput(decode, value)),
    { numRuns: 1000 },
  );
});

const subnet = fc
  .constantFrom(4 as const, 6 as const)
  .chain((family) =>
    fc
      .tuple(
        fc.bigInt(family === 4 ? 0n : 1n << 64n, highestAddress(family)),
        fc.integer({ min: family === 4 ? 8 : 64, max: family === 4 ? 32 : 128 }),
      )
      .map(([value, prefix]) => enclosingCidr({ family, value }, prefix)),
  );
const ranges = fc.array(fc.tuple(fc.bigInt(-2n, 1n << 12n), fc.bigInt(0n, 20n)), { maxLength: 5 });

test('the addresses of a decoded pool lie in its subnet and are those listed and not excluded', () => {
  let decoded = 0;
  fc.assert(
    fc.property(subnet, ranges, ranges, (subnet, listed, excluded) => {
      const toIntervals = (pairs: typeof listed) =>
        pairs.map(([offset, span]) => ({ first: subnet.first + offset, last: subnet.first + offset + span }));
      const toTexts = (pairs: typeof listed) =>
        toIntervals(pairs).map((interval) => formatRange(subnet.family, interval));
      const isDrawable = [...toIntervals(listed), ...toIntervals(excluded)].every(
        ({ first, last }) => first >= 0n && last <= highestAddress(subnet.family),
      );
      fc.pre(isDrawable);
      const spec = { subnet: formatCidr(subnet), ips: toTexts(listed), excludeIPs: toTexts(excluded) };
      const pool = tryDecode({ ...POOL, spec });
      if (pool === null) return;
      decoded += 1;
      for (const { first, last } of pool.addresses.intervals()) {
        expect([first, last].every((value) => cidrContains(subnet, { family: subnet.family, value }))).toBe(true);
      }
      for (const { first, last } of toIntervals(listed)) {
        for (let value = first; value <= last; value += 1n) {
          const isExcluded = toIntervals(excluded).some((hole) => hole.first <= value && value <= hole.last);
          expect(pool.addresses.contains(value)).toBe(!isExcluded);
        }
      }
    }),
    { numRuns: 500 },
  );
  expect(decoded).toBeGreaterThan(50);
});

function tryDecode(value: unknown) {
  try {
    return decodePool(value);
  } catch {
    return null;
  }
}
