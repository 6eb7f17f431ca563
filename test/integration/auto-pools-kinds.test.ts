import { beforeAll, expect, test, vi } from 'vitest';
import { CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, JOBS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import { apiVersionOf, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { STATEFUL_SETS } from '#pkg/kube/objects/sticky-owners.ts';
import { conditionsOf, eventually, sure } from './spider-objects.ts';
import {
  asks,
  discard,
  ipsOf,
  type Led,
  lead,
  NAMESPACE,
  PATIENCE,
  type SubnetStage,
  startSubnetStage,
  valuesOf,
} from './subnet-stage.ts';

let stage: SubnetStage;
let led: Led;

beforeAll(async () => {
  stage = await startSubnetStage();
  led = await lead(stage);
  return async () => {
    await led[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  };
});

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

function make(resource: Resource, name: string, spec: object, owner?: Owner): Promise<KubeObject> {
  const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true }];
  return sure(stage.admin.create(resource, { metadata: { name, namespace: NAMESPACE, ownerReferences }, spec }));
}

const labels = { app: 'x' };
const selector = { matchLabels: labels };
const templateWith = (spec: object = {}) => ({
  metadata: { labels, annotations: asks('kinds') },
  spec: { containers: [{ name: 'main', image: 'main' }], ...spec },
});
const template = templateWith();
const once = templateWith({ restartPolicy: 'Never' });

test('every kind of Kubernetes that makes pods gets one pool, with as many addresses as it wants pods', async () => {
  await stage.subnet('kinds', { subnet: '10.60.0.0/24', ips: ['10.60.0.10-10.60.0.99'] });
  await make(REPLICA_SETS, 'set-alone', { replicas: 2, selector, template });
  await make(STATEFUL_SETS, 'stateful', { replicas: 3, selector, template, serviceName: 'x' });
  const daemons = await make(DAEMON_SETS, 'daemons', { selector, template });
  await make(JOBS, 'completions', { completions: 4, parallelism: 2, template: once });
  await make(JOBS, 'parallel', { parallelism: 5, template: once });
  const cron = await make(CRON_JOBS, 'cron', {
    schedule: '0 0 1 1 *',
    jobTemplate: { spec: { completions: 6, template: once } },
  });
  const { uid } = cron.metadata;
  const ofCron = { apiVersion: apiVersionOf(CRON_JOBS), kind: CRON_JOBS.kind, name: 'cron', uid };
  await make(JOBS, 'of-cron', { completions: 6, template: once }, ofCron);
  const operated = { replicas: 1, selector, template };
  const database = { apiVersion: 'databases.test/v1', kind: 'Database', name: 'database', uid: 'd-1' };
  await make(STATEFUL_SETS, 'database', { ...operated, serviceName: 'x' }, database);
  await make(DEPLOYMENTS, 'console', operated, database);
  await make(DEPLOYMENTS, 'of-the-host', { replicas: 2, selector, template: templateWith({ hostNetwork: true }) });
  const status = { currentNumberScheduled: 0, desiredNumberScheduled: 7, numberMisscheduled: 0, numberReady: 0 };
  const written = { ...daemons, status };
  await sure(stage.admin.update(DAEMON_SETS, written, { subresource: 'status' }));
  await vi.waitFor(async () => {
    const sizes = (await stage.pools()).map((pool) => [nameOf(pool), valuesOf(pool).length]);
    expect(Object.fromEntries(sizes)).toEqual({
      'set-alone': 2,
      stateful: 3,
      daemons: 7,
      completions: 4,
      parallel: 5,
      cron: 6,
      database: 1,
      console: 1,
    });
  }, PATIENCE);
  for (const [kind, name] of [
    [REPLICA_SETS, 'set-alone'],
    [STATEFUL_SETS, 'stateful'],
    [DAEMON_SETS, 'daemons'],
    [JOBS, 'completions'],
    [JOBS, 'parallel'],
    [CRON_JOBS, 'cron'],
    [STATEFUL_SETS, 'database'],
    [DEPLOYMENTS, 'console'],
  ] as const) {
    await discard(stage.admin, kind, name);
    // Otherwise the API server keeps a Job until the garbage collector, which does not run here, has orphaned its pods.
    await stage.admin.patch(kind, { namespace: NAMESPACE, name }, { metadata: { finalizers: null } });
  }
  await vi.waitFor(async () => expect(await stage.pools()).toEqual([]), PATIENCE);
});

test('several interfaces and both families: a pool for each, and one that cannot grow holds up no other', async () => {
  await stage.subnet('four', { subnet: '10.61.0.0/24', ips: ['10.61.0.10-10.61.0.12'] });
  await stage.subnet('six', { subnet: 'fd00:61::/64', ips: ['fd00:61::-fd00:61::ffff:ffff:ffff:ffff'] });
  await stage.subnet('six-only', { subnet: 'fd00:62::/64', ips: ['fd00:62::10-fd00:62::ff'] });
  const items = [
    { interface: 'eth0', ipv4: ['four'], ipv6: ['six'] },
    { interface: 'net1', ipv6: ['six-only'] },
  ];
  const { metadata } = await stage.deploy('wide', 3, { 'ipam.spidernet.io/subnets': JSON.stringify(items) });
  const end = metadata.uid.split('-').at(-1)?.slice(0, 5);
  const rangesAre = (...ranges: readonly (readonly string[])[]) =>
    vi.waitFor(async () => {
      const pools = await stage.poolsOf('wide');
      expect(pools.map(({ metadata: { name } }) => name)).toEqual([
        `auto4-wide-eth0-${end}`,
        `auto6-wide-eth0-${end}`,
        `auto6-wide-net1-${end}`,
      ]);
      expect(pools.map(ipsOf)).toEqual(ranges);
    }, PATIENCE);
  await rangesAre(['10.61.0.10-10.61.0.12'], ['fd00:61::-fd00:61::2'], ['fd00:62::10-fd00:62::12']);
  await stage.scale('wide', 4);
  await rangesAre(['10.61.0.10-10.61.0.12'], ['fd00:61::-fd00:61::3'], ['fd00:62::10-fd00:62::13']);
  await eventually(stage.admin, SUBNETS, { name: 'four' }, (object) =>
    expect(conditionsOf(object)).toContain('Insufficient=True/Lacking'),
  );
  await discard(stage.admin, DEPLOYMENTS, 'wide');
  await vi.waitFor(async () => expect(await stage.poolsOf('wide')).toEqual([]), PATIENCE);
});

test('a subnet says which namespaces may ask and how much they may have; kept pools count, and what it allows later is given', async () => {
  const ALLOWED = 'ipledger.io/allowed-namespaces';
  const MOST = 'ipledger.io/max-ips-per-namespace';
  const limit = (annotations: object) =>
    sure(stage.admin.patch(SUBNETS, { name: 'rationed' }, { metadata: { annotations } }));
  await stage.subnet('rationed', { subnet: '10.63.0.0/24', ips: ['10.63.0.10-10.63.0.99'] });
  await limit({ [ALLOWED]: '["team-*"]' });
  const told = (pattern: RegExp) =>
    vi.waitFor(() => expect(led.told.map(({ note }) => note).join('\n')).toMatch(pattern), PATIENCE);
  await stage.deploy('kept', 4, asks('rationed', { 'ipam.spidernet.io/ippool-reclaim': 'false' }));
  await told(new RegExp(`namespace ${NAMESPACE} may not use the subnet`));
  expect(await stage.poolsOf('kept')).toEqual([]);
  await limit({ [ALLOWED]: '["team-*", "prod"]', [MOST]: '6' });
  await stage.poolWith('kept', 4);
  await discard(stage.admin, DEPLOYMENTS, 'kept');
  await stage.deploy('greedy', 3, asks('rationed'));
  await told(/required 3, but the pools of namespace prod have 4 of at most 6 addresses/);
  expect(await stage.poolsOf('greedy')).toEqual([]);
  await stage.deploy('modest', 2, asks('rationed'));
  await stage.poolWith('modest', 2);
  await limit({ [MOST]: null });
  await stage.poolWith('greedy', 3);
});

function nameOf({ metadata }: KubeObject): string {
  return metadata.labels?.['ipam.spidernet.io/owner-application-name'] ?? '';
}
