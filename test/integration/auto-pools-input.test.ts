import { beforeAll, expect, test, vi } from 'vitest';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS as SUBNET_OBJECTS } from '#pkg/kube/objects/spider-resources.ts';
import { eventually, poolOf, remove, sure } from './spider-objects.ts';
import {
  asks,
  discard,
  ipsOf,
  type Led,
  lead,
  PATIENCE,
  type SubnetStage,
  sharedBy,
  startSubnetStage,
} from './subnet-stage.ts';

const SUBNET = 'ipam.spidernet.io/subnet';
const SUBNETS = 'ipam.spidernet.io/subnets';
const NUMBER = 'ipam.spidernet.io/ippool-ip-number';
const RECLAIM = 'ipam.spidernet.io/ippool-reclaim';

let stage: SubnetStage;
let led: Led;

beforeAll(async () => {
  stage = await startSubnetStage();
  await stage.subnet('good', { subnet: '10.20.0.0/24', ips: ['10.20.0.10-10.20.0.99'] });
  await stage.subnet('other', { subnet: '10.21.0.0/24', ips: ['10.21.0.10-10.21.0.99'] });
  await stage.subnet('six', { subnet: 'fd00:20::/64', ips: ['fd00:20::10-fd00:20::99'] });
  led = await lead(stage);
  return async () => {
    await led[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  };
});

const nics = (...items: readonly object[]) => ({ [SUBNETS]: JSON.stringify(items) });

test.for([
  ['does not exist', asks('nowhere'), 'SubnetMissing', /SpiderSubnet nowhere does not exist/],
  ['has a name of 253 characters', asks('n'.repeat(253)), 'SubnetMissing', /SpiderSubnet n{253} does not exist/],
  ['is of the wrong family', asks('six'), 'SubnetInsufficient', /it is named for IPv4, and is an IPv6 subnet/],
  [
    'is on two interfaces',
    nics({ interface: 'eth0', ipv4: ['good'] }, { interface: 'net1', ipv4: ['good'] }),
    'BadSubnetAnnotation',
    /subnets: .*subnet "good" is on two interfaces/,
  ],
  [
    'is one of two for the same interface',
    nics({ interface: 'eth0', ipv4: ['good'] }, { interface: 'eth0', ipv4: ['other'] }),
    'BadSubnetAnnotation',
    /subnets: .*duplicate interface "eth0"/,
  ],
  [
    'is for an interface with a name of 253 characters',
    nics({ interface: 'e'.repeat(253), ipv4: ['good'] }),
    'BadSubnetAnnotation',
    /subnets: .*cannot be the name of an interface/,
  ],
  [
    'is named in an annotation of 100 kB',
    { [SUBNET]: JSON.stringify({ ipv4: ['good'], more: 'x'.repeat(100_000) }) },
    'BadSubnetAnnotation',
    /subnet: .*at most 65536 are read/,
  ],
  ['is not JSON', { [SUBNET]: 'good' }, 'BadSubnetAnnotation', /ipam.spidernet.io\/subnet/],
  ['has no name', { [SUBNET]: '{"ipv4":[""]}' }, 'BadSubnetAnnotation', /ipam.spidernet.io\/subnet/],
  ['is none', { [SUBNET]: '{}' }, 'BadSubnetAnnotation', /names no subnet/],
  ['comes with a negative number', asks('good', { [NUMBER]: '-5' }), 'BadSubnetAnnotation', /ippool-ip-number.*"-5"/],
  ['comes with a word', asks('good', { [NUMBER]: 'five' }), 'BadSubnetAnnotation', /ippool-ip-number.*"five"/],
  ['comes with two plus', asks('good', { [NUMBER]: '++5' }), 'BadSubnetAnnotation', /ippool-ip-number/],
  ['comes with an absurd number', asks('good', { [NUMBER]: '20001' }), 'BadSubnetAnnotation', /at most 20000/],
  [
    'comes with a faulty reclaim',
    asks('good', { [RECLAIM]: 'maybe' }),
    'BadSubnetAnnotation',
    /ippool-reclaim.*"maybe"/,
  ],
] as const)(
  'a subnet that %s: an Event on the application, no pool, and nobody else waits',
  async ([, annotations, reason, note]) => {
    const { metadata } = await stage.deploy('bad', 2, annotations);
    await stage.deploy('fine', 2, asks('good'));
    await stage.poolWith('fine', 2);
    const toldOf = () => led.told.filter(({ regarding }) => regarding.uid === metadata.uid);
    await vi.waitFor(() => expect(toldOf()).not.toEqual([]), PATIENCE);
    for (const event of toldOf()) {
      expect(event).toMatchObject({ type: 'Warning', reason, regarding: { kind: 'Deployment', name: 'bad' } });
      expect(event.note).toMatch(note);
    }
    expect(await stage.poolsOf('bad')).toEqual([]);
    await clear('bad', 'fine');
  },
);

test('a subnet that is created after its application', async () => {
  await stage.deploy('early', 2, asks('late'));
  await vi.waitFor(() => expect(led.told.some(({ note }) => note.includes('SpiderSubnet late'))).toBe(true), PATIENCE);
  await stage.subnet('late', { subnet: '10.22.0.0/24', ips: ['10.22.0.10-10.22.0.19'] });
  expect(ipsOf(await stage.poolWith('early', 2))).toEqual(['10.22.0.10-10.22.0.11']);
  await clear('early');
});

test('an annotation that becomes faulty leaves the pool as it is, and its repair changes it', async () => {
  await stage.deploy('typo', 2, asks('good'));
  const { metadata } = await stage.poolWith('typo', 2);
  await stage.annotate('typo', { [NUMBER]: 'three' });
  await vi.waitFor(() => expect(led.told.some(({ note }) => note.includes('"three"'))).toBe(true), PATIENCE);
  await stage.annotate('typo', { [SUBNET]: 'broken' });
  await vi.waitFor(() => expect(led.told.some(({ note }) => note.includes('JSON'))).toBe(true), PATIENCE);
  expect((await stage.poolWith('typo', 2)).metadata.uid).toBe(metadata.uid);
  await stage.annotate('typo', { [NUMBER]: '3', ...asks('good') });
  expect((await stage.poolWith('typo', 3)).metadata.uid).toBe(metadata.uid);
  await clear('typo');
});

test('applications that want no address and a pool that stays leave no pool behind, the others do', async () => {
  await stage.deploy('empty', 3, { ...asks('good'), [NUMBER]: '0', [RECLAIM]: 'false' });
  await stage.deploy('kept', 2, { ...asks('good'), [RECLAIM]: 'false' });
  await stage.poolWith('empty', 0);
  const kept = await stage.poolWith('kept', 2);
  for (const name of ['empty', 'kept']) await discard(stage.admin, DEPLOYMENTS, name);
  await vi.waitFor(async () => expect(await stage.poolsOf('empty')).toEqual([]), PATIENCE);
  expect((await stage.poolsOf('kept')).map(({ metadata }) => metadata.uid)).toEqual([kept.metadata.uid]);
  await remove(stage.admin, POOLS, kept);
  await vi.waitFor(async () => expect(await stage.poolsOf('kept')).toEqual([]), PATIENCE);
});

test('names of 253 characters that differ only in the last one have a pool each', async () => {
  const names = ['a', 'b'].map((end) => `${'x'.repeat(252)}${end}`);
  for (const name of names) await stage.deploy(name, 3, asks('good'));
  const pools = await vi.waitFor(async () => {
    const found = (await stage.pools()).filter((pool) => names.includes(nameOf(pool)));
    expect(found).toHaveLength(2);
    return found;
  }, PATIENCE);
  expect(pools.map(nameOf).toSorted()).toEqual(names);
  expect(sharedBy(pools)).toEqual([]);
  for (const { metadata } of pools) expect(metadata.name.length).toBeLessThanOrEqual(253);
  for (const name of names) await discard(stage.admin, DEPLOYMENTS, name);
  await vi.waitFor(
    async () => expect((await stage.pools()).filter((it) => names.includes(nameOf(it)))).toEqual([]),
    PATIENCE,
  );
});

test('a pool that a policy of the cluster refuses: its application is told, and nobody else waits', async () => {
  const allow = await forbidPools('refused');
  const { metadata } = await stage.deploy('refused', 2, asks('good'));
  const toldOf = () => led.told.filter(({ regarding }) => regarding.uid === metadata.uid).map(({ note }) => note);
  await vi.waitFor(() => expect(toldOf().join()).toMatch(/the API server refuses its pool: .*no such pools/), PATIENCE);
  await eventually(stage.admin, SUBNET_OBJECTS, { name: 'good' }, (object) =>
    expect(JSON.stringify(object?.['status'])).toMatch(
      /Deployment prod\/refused eth0: the API server refuses its pool/,
    ),
  );
  await stage.deploy('fine', 2, asks('good'));
  await stage.poolWith('fine', 2);
  expect(await stage.poolsOf('refused')).toEqual([]);
  await allow();
  await stage.scale('refused', 3); // otherwise it is tried again after 30 s
  await stage.poolWith('refused', 3);
  await clear('refused', 'fine');
});

/** No pool of this application can be made until the result is called. */
async function forbidPools(application: string): Promise<() => Promise<void>> {
  const metadata = { name: 'no-such-pools' };
  const rule = {
    apiGroups: ['spiderpool.spidernet.io'],
    apiVersions: ['*'],
    resources: ['spiderippools'],
    operations: ['CREATE'],
  };
  const expression = `!object.metadata.name.startsWith('auto4-${application}-') && object.metadata.name != '${application}'`;
  const validations = [{ expression, message: 'no such pools' }];
  const matchConstraints = { resourceRules: [rule] };
  const policy = await sure(stage.admin.create(POLICIES, { metadata, spec: { matchConstraints, validations } }));
  const spec = { policyName: metadata.name, validationActions: ['Deny'] };
  const binding = await sure(stage.admin.create(BINDINGS, { metadata, spec }));
  const probe = poolOf(application, { subnet: '192.0.2.0/24', ips: [] });
  const isRefused = async () => {
    const made = await stage.admin.create(POOLS, probe);
    if (made.ok) await remove(stage.admin, POOLS, made.object);
    return !made.ok && made.because === 'Invalid'; // and not because the one before is still going
  };
  await vi.waitFor(async () => expect(await isRefused()).toBe(true), PATIENCE);
  return async () => {
    await remove(stage.admin, BINDINGS, binding);
    await remove(stage.admin, POLICIES, policy);
    await vi.waitFor(async () => expect(await isRefused()).toBe(false), PATIENCE);
  };
}

const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1' };
const POLICIES = { ...REGISTRATION, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' };
const BINDINGS = {
  ...REGISTRATION,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
};

/** The whole name of the application; a label holds 63 characters of it. */
function nameOf(pool: KubeObject): string {
  const { podAffinity } = pool['spec'] as { podAffinity?: { matchLabels?: Record<string, string> } };
  return podAffinity?.matchLabels?.['ipam.spidernet.io/app-name'] ?? '';
}

async function clear(...names: readonly string[]): Promise<void> {
  for (const name of names) await discard(stage.admin, DEPLOYMENTS, name);
  await vi.waitFor(async () => {
    for (const name of names) expect(await stage.poolsOf(name)).toEqual([]);
  }, PATIENCE);
}
