import { describe, expect, test } from 'vitest';
import { decodeRecordSpec, newSpecProblem } from './decode-record.ts';
import type { RecordSpec } from './ip-record.ts';

const HOLDER = {
  kind: 'Pod',
  namespace: 'prod',
  name: 'web-0',
  interface: 'eth0',
  attachGeneration: 1,
  node: 'worker-1',
};
const SPEC = {
  address: '10.0.2.50',
  prefix: 24,
  domain: 'default',
  pool: { kind: 'SpiderIPPool', name: 'pool-a', uid: 'u1' },
  state: 'Allocated',
  holder: HOLDER,
};
const UNTIL = '2026-11-16T10:00:00Z';
const heldBy = (holder: object) => ({ ...SPEC, holder: { ...HOLDER, ...holder } });
const routed = (dst: string, gw: string) => ({ ...SPEC, routes: [{ dst, gw }] });

test('the smallest spec is read without inventing fields', () => {
  expect(Object.keys(decodeRecordSpec(SPEC))).toEqual(Object.keys(SPEC));
  expect(decodeRecordSpec(SPEC)).toStrictEqual(SPEC);
});

test('an older record, which calls it attach, is read under the new name', () => {
  const { attachGeneration: _, ...rest } = HOLDER;
  const { holder } = decodeRecordSpec({ ...SPEC, holder: { ...rest, attach: 7 } });
  expect(holder.attachGeneration).toBe(7);
  expect(holder).not.toHaveProperty('attach');
});

test('a full spec survives JSON', () => {
  const full = {
    ...SPEC,
    address: 'fd00::a',
    prefix: 64,
    gateway: 'fd00::1',
    holder: {
      ...HOLDER,
      uid: '4f0c',
      network: 'macvlan-conf',
      containerID: '9ab',
      netns: '/var/run/netns/x',
      bootID: 'b1',
      owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' },
    },
    routes: [{ dst: 'fd01::/64', gw: 'fd00::2' }],
    cleanGateway: false,
  };
  expect(decodeRecordSpec(JSON.parse(JSON.stringify(full)))).toStrictEqual(full);
});

test('fields of a later version are left out', () => {
  const { holder } = heldBy({ mood: 'good' });
  expect(decodeRecordSpec({ ...SPEC, holder, color: 'blue' })).toStrictEqual(SPEC);
});

test.each(['Cooling', 'Quarantined'])('%s has its time', (state) => {
  expect(decodeRecordSpec({ ...SPEC, state, until: UNTIL }).until).toBe(UNTIL);
  expect(() => decodeRecordSpec({ ...SPEC, state })).toThrow(`spec.until: missing in state ${state}`);
});

test.each(['Allocated', 'Retained', 'Suspect'])('%s has no time', (state) => {
  expect(decodeRecordSpec({ ...SPEC, state, until: null })).not.toHaveProperty('until');
  expect(() => decodeRecordSpec({ ...SPEC, state, until: UNTIL })).toThrow(`spec.until: not allowed in state ${state}`);
});

describe('it is refused:', () => {
  test.each<[name: string, value: unknown, message: string]>([
    ['no object', null, 'spec: expected an object, found nothing'],
    ['no address', { ...SPEC, address: undefined }, 'spec.address: expected a string, found nothing'],
    [
      'a second spelling',
      { ...SPEC, address: 'FD00::A' },
      'spec.address: "FD00::A" is not canonical; expected fd00::a',
    ],
    [
      'IPv4 in IPv6 form',
      { ...SPEC, address: '::ffff:1.2.3.4' },
      'spec.address: "::ffff:1.2.3.4" is not canonical; expected 1.2.3.4',
    ],
    ['a prefix too long', { ...SPEC, prefix: 33 }, 'spec.prefix: expected a whole number from 0 to 32, found 33'],
    [
      'a gateway of the other family',
      { ...SPEC, gateway: 'fd00::1' },
      'spec.gateway: fd00::1 is not IPv4 like spec.address',
    ],
    ['no domain', { ...SPEC, domain: null }, 'spec.domain: expected a string, found nothing'],
    [
      'another kind of pool',
      { ...SPEC, pool: { ...SPEC.pool, kind: 'Pool' } },
      'spec.pool.kind: expected SpiderIPPool or NetworkNamespace, found "Pool"',
    ],
    [
      'the pool of a NetworkNamespace without its namespace',
      { ...SPEC, pool: { ...SPEC.pool, kind: 'NetworkNamespace', name: 'prod-network' } },
      'the namespace of spec.pool.name: "" is not a DNS label: lower case letters, digits and inner hyphens, at most 63 characters',
    ],
    [
      'a pool of two namespaces',
      { ...SPEC, pool: { ...SPEC.pool, kind: 'NetworkNamespace', name: 'a/b/c' } },
      'the name of spec.pool.name: "b/c" is not a DNS name: lower case letters, digits, inner hyphens and dots',
    ],
    [
      'no pool name',
      { ...SPEC, pool: { ...SPEC.pool, name: '' } },
      'spec.pool.name: "" is not a DNS name: lower case letters, digits, inner hyphens and dots',
    ],
    [
      'no pool uid',
      { ...SPEC, pool: { kind: 'SpiderIPPool', name: 'a' } },
      'spec.pool.uid: expected a string, found nothing',
    ],
    [
      'an unknown state',
      { ...SPEC, state: 'Free' },
      'spec.state: expected Allocated or Retained or Suspect or Cooling or Quarantined, found "Free"',
    ],
    ['a time that is none', { ...SPEC, state: 'Cooling', until: 'soon' }, 'spec.until: "soon" is not an RFC 3339 time'],
    [
      'a time without zone',
      { ...SPEC, state: 'Cooling', until: '2026-11-16T10:00:00' },
      'spec.until: "2026-11-16T10:00:00" is not an RFC 3339 time',
    ],
    [
      'a 13th month',
      { ...SPEC, state: 'Cooling', until: '2026-13-16T10:00:00Z' },
      'spec.until: "2026-13-16T10:00:00Z" is not an RFC 3339 time',
    ],
    ['no holder', { ...SPEC, holder: [] }, 'spec.holder: expected an object, found a list'],
    [
      'a holder of unknown kind',
      heldBy({ kind: 'Cat' }),
      'spec.holder.kind: expected Pod or VirtualMachineInstance or Container or IPAddressClaim or IPAllocation or Conflict, found "Cat"',
    ],
    ['a holder without name', heldBy({ name: '' }), 'spec.holder.name: must not be empty'],
    ['a slash in a key', heldBy({ namespace: 'a/b' }), 'spec.holder.namespace: "a/b" must not contain a slash'],
    [
      'a slash in an interface',
      heldBy({ interface: '../x' }),
      'spec.holder.interface: "../x" must not contain a slash',
    ],
    [
      'no attachGeneration',
      heldBy({ attachGeneration: undefined }),
      'spec.holder.attachGeneration: expected a whole number from 1 to 2147483647, found nothing',
    ],
    ['a uid that is no text', heldBy({ uid: 5 }), 'spec.holder.uid: expected a string, found 5'],
    [
      'half an owner',
      heldBy({ owner: { kind: 'Job', name: 'x' } }),
      'spec.holder.owner.apiVersion: expected a string, found nothing',
    ],
    [
      'a route with host bits',
      routed('10.7.0.1/16', '10.0.2.1'),
      'spec.routes[0].dst: 10.7.0.1/16 has host bits set; did you mean 10.7.0.0/16?',
    ],
    [
      'a route of the other family',
      routed('fd01::/64', '10.0.2.1'),
      'spec.routes[0].dst: fd01::/64 is not IPv4 like spec.address',
    ],
    [
      'a next hop of the other family',
      routed('10.7.0.0/16', 'fd00::1'),
      'spec.routes[0].gw: fd00::1 is not IPv4 like spec.address',
    ],
    ['a switch as text', { ...SPEC, cleanGateway: 'no' }, 'spec.cleanGateway: expected true or false, found "no"'],
  ])('%s', (_, value, message) => {
    expect(() => decodeRecordSpec(value)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });
});

describe('newSpecProblem', () => {
  const quarantined = { ...SPEC, state: 'Quarantined', until: UNTIL };

  test.each<[string, object, string | null]>([
    ['an Allocated record', SPEC, null],
    ['a Quarantined record', quarantined, null],
    ['a Retained record', { ...SPEC, state: 'Retained' }, 'a record is not created as Retained'],
    ['a Suspect record', { ...SPEC, state: 'Suspect' }, 'a record is not created as Suspect'],
    ['a Cooling record', { ...quarantined, state: 'Cooling' }, 'a record is not created as Cooling'],
    ['Allocated with until', { ...SPEC, until: UNTIL }, 'a record that is Allocated has no until'],
    [
      'Quarantined without until',
      { ...quarantined, until: undefined },
      'a record that is Quarantined needs a time in until',
    ],
    ['until that is no time', { ...quarantined, until: 'soon' }, 'a record that is Quarantined needs a time in until'],
    [
      'Quarantined with a uid',
      { ...quarantined, holder: { ...HOLDER, uid: 'u' } },
      'a record that is Quarantined has no uid and no containerID',
    ],
    [
      'Quarantined with a containerID',
      { ...quarantined, holder: { ...HOLDER, containerID: 'c' } },
      'a record that is Quarantined has no uid and no containerID',
    ],
    ['a foreign host as user', heldBy({ kind: 'Conflict' }), 'a foreign host holds nothing but a Quarantined record'],
    ['half a surrogate pair', heldBy({ name: 'web\ud800' }), 'a text of the holder has half a character'],
    ['canonical IPv6', { ...SPEC, address: 'fd00::a' }, null],
    ['long IPv6', { ...SPEC, address: 'fd00:0:0:0:0:0:0:a' }, 'the address must be written fd00::a'],
    ['capital IPv6', { ...SPEC, address: 'FD00::A' }, 'the address must be written fd00::a'],
    ['mapped IPv4', { ...SPEC, address: '::ffff:10.0.0.1' }, 'the address must be written 10.0.0.1'],
    ['no address', { ...SPEC, address: 'ten' }, 'the address is not an IP address'],
  ])('%s', (_, wish, problem) => {
    expect(newSpecProblem(wish as RecordSpec)).toBe(problem);
  });
});
