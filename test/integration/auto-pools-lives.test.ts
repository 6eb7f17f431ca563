import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { DEPLOYMENTS, PODS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { remove, sure } from './spider-objects.ts';
import {
  asks,
  discard,
  ipsOf,
  lead,
  NAMESPACE,
  PATIENCE,
  type SubnetStage,
  sharedBy,
  startSubnetStage,
} from './subnet-stage.ts';

const RECLAIM = 'ipam.spidernet.io/ippool-reclaim';
const OWNER_UID = 'ipam.spidernet.io/owner-application-uid';

let stage: SubnetStage;

beforeAll(async () => {
  stage = await startSubnetStage();
  return () => stage[Symbol.asyncDispose]();
});

const untilGone = (name: string) => vi.waitFor(async () => expect(await stage.poolsOf(name)).toEqual([]), PATIENCE);

test('an application of the same name after a deleted one has a pool of its own; the old one goes with its last address', async () => {
  await stage.subnet('again', { subnet: '10.30.0.0/24', ips: ['10.30.0.10-10.30.0.29'] });
  await using _ = await lead(stage);
  await stage.deploy('again', 3, asks('again'));
  const old = await stage.poolWith('again', 3);
  await stage.take('10.30.0.11', old.metadata.name);
  await discard(stage.admin, DEPLOYMENTS, 'again');
  const { metadata } = await stage.deploy('again', 4, asks('again'));
  const pool = await stage.poolWith('again', 4);
  expect(pool.metadata.labels).toMatchObject({ [OWNER_UID]: metadata.uid });
  const pools = await stage.poolsOf('again');
  expect(pools.map(({ metadata: { uid } }) => uid)).toContain(old.metadata.uid);
  expect(sharedBy(pools)).toEqual([]);
  await stage.give('10.30.0.11');
  await vi.waitFor(async () => expect(await stage.poolsOf('again')).toHaveLength(1), PATIENCE);
  await discard(stage.admin, DEPLOYMENTS, 'again');
  await untilGone('again');
});

test('a pool that was to stay comes back to the application of the same name, also under another leader', async () => {
  await stage.subnet('stays', { subnet: '10.31.0.0/24', ips: ['10.31.0.10-10.31.0.29'] });
  const keeps = asks('stays', { [RECLAIM]: 'false' });
  let old: KubeObject;
  {
    await using _ = await lead(stage);
    await stage.deploy('stays', 3, keeps);
    old = await stage.poolWith('stays', 3);
    await discard(stage.admin, DEPLOYMENTS, 'stays');
    await sleep(1_000);
    expect(await stage.poolsOf('stays')).toHaveLength(1);
  }
  await using _ = await lead(stage);
  await sleep(1_000);
  expect(await stage.poolsOf('stays')).toHaveLength(1);
  const { metadata } = await stage.deploy('stays', 5, keeps);
  const pool = await stage.poolWith('stays', 5);
  expect(pool.metadata).toMatchObject({ uid: old.metadata.uid, labels: { [OWNER_UID]: metadata.uid } });
  expect(ipsOf(pool)).toEqual(['10.31.0.10-10.31.0.14']);
  await stage.annotate('stays', { [RECLAIM]: 'true' });
  await vi.waitFor(async () => {
    const [now] = await stage.poolsOf('stays');
    expect(now?.metadata.labels).toMatchObject({ 'ipam.spidernet.io/ippool-reclaim': 'true' });
  }, PATIENCE);
  await discard(stage.admin, DEPLOYMENTS, 'stays');
  await untilGone('stays');
});

test('an application is deleted while no controller runs: what is held stays, the rest goes', async () => {
  await stage.subnet('away', { subnet: '10.32.0.0/24', ips: ['10.32.0.10-10.32.0.29'] });
  {
    await using _ = await lead(stage);
    await stage.deploy('away-empty', 3, asks('away'));
    await stage.deploy('away-held', 3, asks('away'));
    await stage.poolWith('away-empty', 3);
    const { metadata } = await stage.poolWith('away-held', 3);
    await stage.take('10.32.0.14', metadata.name);
  }
  for (const name of ['away-empty', 'away-held']) await discard(stage.admin, DEPLOYMENTS, name);
  await using _ = await lead(stage);
  await untilGone('away-empty');
  expect(await stage.poolsOf('away-held')).toHaveLength(1);
  await stage.give('10.32.0.14');
  await untilGone('away-held');
});

test('an application that names another subnet moves: a new pool there, the old one goes with its last address', async () => {
  await stage.subnet('from', { subnet: '10.33.0.0/24', ips: ['10.33.0.10-10.33.0.29'] });
  await stage.subnet('to', { subnet: '10.34.0.0/24', ips: ['10.34.0.10-10.34.0.29'] });
  await using _ = await lead(stage);
  await stage.deploy('mover', 3, asks('from'));
  const { metadata } = await stage.poolWith('mover', 3);
  await stage.take('10.33.0.10', metadata.name);
  await stage.annotate('mover', asks('to'));
  await vi.waitFor(async () => {
    const ranges = (await stage.poolsOf('mover')).flatMap(ipsOf).toSorted();
    expect(ranges).toEqual(['10.33.0.10-10.33.0.12', '10.34.0.10-10.34.0.12']);
  }, PATIENCE);
  await stage.give('10.33.0.10');
  await vi.waitFor(
    async () => expect((await stage.poolsOf('mover')).flatMap(ipsOf)).toEqual(['10.34.0.10-10.34.0.12']),
    PATIENCE,
  );
  await stage.annotate('mover', asks('from'));
  await vi.waitFor(
    async () => expect((await stage.poolsOf('mover')).flatMap(ipsOf)).toEqual(['10.33.0.10-10.33.0.12']),
    PATIENCE,
  );
  await discard(stage.admin, DEPLOYMENTS, 'mover');
  await untilGone('mover');
});

const GAMES: Resource = { group: 'games.test', version: 'v1', plural: 'games', kind: 'Game' };
const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const ROLES: Resource = { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole' };
const BINDINGS: Resource = { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' };

test("the CRD of a third party's applications is removed and installed again: nothing is freed", async () => {
  await stage.subnet('games', { subnet: '10.35.0.0/24', ips: ['10.35.0.10-10.35.0.29'] });
  await allowGames();
  const crd = await installGames();
  const chess = await playGame('chess', 3);
  {
    await using _ = await lead(stage);
    const pool = await stage.poolWith('chess', 3);
    await stage.take('10.35.0.10', pool.metadata.name);
    await remove(stage.admin, CRDS, crd);
    await vi.waitFor(
      async () => expect(await stage.admin.list(GAMES, {})).toMatchObject({ because: 'NotServed' }),
      PATIENCE,
    );
    await sleep(1_000);
    expect((await stage.poolWith('chess', 3)).metadata.uid).toBe(pool.metadata.uid);
  }
  await using _ = await lead(stage); // it has never seen the kind
  await sleep(1_500);
  const { metadata } = await stage.poolWith('chess', 3);
  await installGames();
  const next = await playGame('chess', 2, 'chess-again');
  expect(next.metadata.uid).not.toBe(chess.metadata.uid);
  await sleep(1_500);
  expect((await stage.poolsOf('chess')).map(({ metadata: { uid } }) => uid)).toContain(metadata.uid);
  expect(await stage.ledger.get('10.35.0.10')).not.toBeNull();
});

async function installGames(): Promise<KubeObject> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const crd = await sure(
    stage.admin.create(CRDS, {
      metadata: { name: 'games.games.test' },
      spec: {
        group: 'games.test',
        names: { plural: 'games', singular: 'game', kind: 'Game' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }],
      },
    }),
  );
  await vi.waitFor(async () => expect((await stage.admin.list(GAMES, {})).ok).toBe(true), PATIENCE);
  return crd;
}

/** docs/subnets.md tells an administrator to grant this. */
async function allowGames(): Promise<void> {
  const name = 'ipledger-games';
  const rules = [{ apiGroups: ['games.test'], resources: ['games', 'games/scale'], verbs: ['get'] }];
  await sure(stage.admin.create(ROLES, { metadata: { name }, rules }));
  await sure(
    stage.admin.create(BINDINGS, {
      metadata: { name },
      roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: 'ipledger-controller', namespace: 'ipledger' }],
    }),
  );
}

/** A game and one pod of it. */
async function playGame(name: string, replicas: number, pod = name): Promise<KubeObject> {
  // The API server may list the kind a moment before it stores objects of it.
  const game = await vi.waitFor(
    () => sure(stage.admin.create(GAMES, { metadata: { name, namespace: NAMESPACE }, spec: { replicas } })),
    PATIENCE,
  );
  const owner = { apiVersion: 'games.test/v1', kind: 'Game', name, uid: game.metadata.uid, controller: true };
  await sure(
    stage.admin.create(PODS, {
      metadata: { name: pod, namespace: NAMESPACE, annotations: asks('games'), ownerReferences: [owner] },
      spec: { containers: [{ name: 'main', image: 'main' }] },
    }),
  );
  return game;
}
