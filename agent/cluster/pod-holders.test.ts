import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeNetnsOn } from '#agent/node/netns-evidence.ts';
import type { NodePod } from '#agent/sources/pods.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { Controller } from '#pkg/pool/request.ts';
import type { Holder } from '#pkg/record/ip-record.ts';
import { believingOwners } from '#test/support/believing-owners.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { PodHolders, type PodHoldersOptions, type PodHoldersPorts } from './pod-holders.ts';

const POD: NodePod = {
  namespace: 'prod',
  name: 'web-0',
  uid: 'u1',
  resourceVersion: '7',
  node: 'worker-1',
  labels: { app: 'web' },
  annotations: {},
  controller: null,
  isAlive: true,
  hadSandbox: false,
};
const OPTIONS: PodHoldersOptions = {
  node: 'worker-1',
  multusNamespace: 'ipledger',
  enableStatefulSet: true,
  enableKubevirtStaticIP: true,
  multusClusterNetwork: null,
  describeNetns: describeNetnsOn({ bootID: 'boot-1', machineID: 'machine-1' }),
};
const ARGS: AddArgs = {
  containerID: 'c1',
  ifName: 'eth0',
  netNamespace: '/proc/self/ns/net',
  podNamespace: 'prod',
  podName: 'web-0',
  podUID: 'u1',
};
const NAMESPACE = { labels: { team: 'a' }, annotations: { 'ipam.spidernet.io/default-ipv4-ippool': '["a"]' } };

interface Wish {
  readonly pod?: Partial<NodePod> | null;
  readonly controller?: Omit<Controller, 'namespace' | 'uid'> | null;
  readonly options?: Partial<PodHoldersOptions>;
  readonly args?: Partial<AddArgs>;
  readonly ports?: Partial<PodHoldersPorts>;
}

function resolve({ pod = {}, controller = null, options = {}, args = {}, ports = {} }: Wish) {
  const top = controller === null ? null : { namespace: 'prod', uid: 'o1', ...controller };
  const holders = new PodHolders(
    {
      pods: { find: async () => (pod === null ? null : { ...POD, controller: top, ...pod }) },
      namespaces: { find: async () => NAMESPACE },
      nodeLabels: { current: () => ({ zone: 'x' }) },
      controllers: { find: async () => top },
      owners: believingOwners({ ...OPTIONS, ...options }),
      index: { ofHolderUid: () => [] },
      onRefused: () => {},
      ...ports,
    },
    { ...OPTIONS, ...options },
  );
  return holders.resolve({ ...ARGS, ...args });
}

const WEB = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const VMI = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm-1' };

test('a pod becomes a holder and a request, with all that the rules may ask for', async () => {
  const annotations = {
    'ipam.spidernet.io/routes': '[{"dst":"10.9.0.0/16","gw":"10.0.0.1","x":1}]',
    'k8s.v1.cni.cncf.io/networks': 'infra/a,b',
  };
  const args = {
    ifName: 'net2',
    network: 'lan',
    defaultIPv4IPPool: ['p'],
    cleanGateway: true,
    matchMasterSubnet: true,
  };
  const facts = await resolve({ pod: { annotations }, controller: WEB, args });
  expect(facts).toEqual({
    holder: {
      kind: 'Pod',
      namespace: 'prod',
      name: 'web-0',
      uid: 'u1',
      interface: 'net2',
      network: 'lan',
      containerID: 'c1',
      netns: '/proc/self/ns/net',
      netnsInode: statSync('/proc/self/ns/net').ino,
      bootID: 'boot-1',
      machineID: 'machine-1',
      node: 'worker-1',
      owner: { ...WEB, uid: 'o1' },
      sticky: true,
    },
    request: {
      interface: 'net2',
      node: { name: 'worker-1', labels: { zone: 'x' } },
      namespace: { name: 'prod', ...NAMESPACE },
      pod: { labels: { app: 'web' }, annotations },
      controller: { ...WEB, namespace: 'prod', uid: 'o1' },
      multusName: 'prod/b',
      interfaceIndex: 2,
      multusUnknownBecause: null,
      cniConfig: { ipv4: ['p'], ipv6: [], cleanGateway: true, matchMasterSubnet: true },
    },
    podName: 'web-0',
    isSticky: true,
    isMigrationTarget: false,
    hadSandbox: false,
    hasMigrationMark: false,
    controlledBy: { ...WEB, namespace: 'prod', uid: 'o1' },
    routes: [{ dst: '10.9.0.0/16', gw: '10.0.0.1' }],
    warnings: ['annotation ipam.spidernet.io/routes: [0] has unknown keys that are ignored: "x"'],
  });
});

test('a bare pod has no owner, and none is verified; a network namespace that cannot be seen is not evidence', async () => {
  const owners = { verify: () => Promise.reject(new Error('it was verified')) };
  const { holder, isSticky } = await resolve({ args: { netNamespace: '/run/netns/not-there' }, ports: { owners } });
  expect(holder).not.toHaveProperty('owner');
  expect(holder).not.toHaveProperty('netns');
  expect(holder).not.toHaveProperty('network');
  expect(isSticky).toBe(false);
});

describe('sticky', () => {
  test.each<{ name: string; wish: Wish; sticky: boolean }>([
    { name: 'a StatefulSet pod', wish: { controller: WEB }, sticky: true },
    {
      name: 'not where it is switched off',
      wish: { controller: WEB, options: { enableStatefulSet: false } },
      sticky: false,
    },
    { name: 'not under another name', wish: { controller: { ...WEB, name: 'db' } }, sticky: false },
    { name: 'not without an ordinal', wish: { controller: WEB, pod: { name: 'web-x' } }, sticky: false },
    {
      name: 'not of another group',
      wish: { controller: { ...WEB, apiVersion: 'apps.kruise.io/v1beta1' } },
      sticky: false,
    },
    { name: 'not a Deployment', wish: { controller: { ...WEB, kind: 'Deployment' } }, sticky: false },
    { name: 'a virtual machine', wish: { controller: VMI }, sticky: true },
    {
      name: 'not where it is switched off',
      wish: { controller: VMI, options: { enableKubevirtStaticIP: false } },
      sticky: false,
    },
  ])('$name', async ({ wish, sticky }) => {
    expect((await resolve(wish)).isSticky).toBe(sticky);
  });
});

describe('a virtual machine', () => {
  const annotations = { 'kubevirt.io/migrationJobName': 'migration-1' };

  test('holds under its own name, with the UID of the pod', async () => {
    const { holder, isMigrationTarget } = await resolve({ controller: VMI });
    expect(holder).toMatchObject({ kind: 'VirtualMachineInstance', name: 'vm-1', uid: 'u1', owner: VMI, sticky: true });
    expect(isMigrationTarget).toBe(false);
  });

  test('is a pod like any other where static addresses for it are off', async () => {
    const { holder, isMigrationTarget } = await resolve({
      controller: VMI,
      pod: { annotations },
      options: { enableKubevirtStaticIP: false },
    });
    expect(holder).toMatchObject({ kind: 'Pod', name: 'web-0' });
    expect(isMigrationTarget).toBe(false);
  });

  test('moves into the pod that names a migration', async () => {
    expect((await resolve({ controller: VMI, pod: { annotations } })).isMigrationTarget).toBe(true);
    expect((await resolve({ pod: { annotations } })).isMigrationTarget).toBe(false);
  });
});

describe('what a record of this pod has stored is not asked again, and not from the pod', () => {
  const stored = (more: Partial<Holder>): Wish['ports'] => ({
    index: {
      ofHolderUid: () => [
        buildRecord({ holder: { kind: 'Pod', namespace: 'prod', name: 'web-0', node: 'worker-1', ...more } }),
      ],
    },
    owners: { verify: () => Promise.reject(new Error('it was read')) },
  });
  const owner = { ...WEB, uid: 'o1' };

  test.each<{ name: string; holder: Partial<Holder>; controller: Wish['controller']; facts: object }>([
    {
      name: 'a verified owner',
      holder: { owner, sticky: true },
      controller: WEB,
      facts: { isSticky: true, holder: { owner, sticky: true } },
    },
    {
      name: 'an owner that was refused',
      holder: { owner: WEB, sticky: false },
      controller: WEB,
      facts: { isSticky: false, holder: { owner: WEB, sticky: false } },
    },
    {
      name: 'written before owners were read: by its kind',
      holder: { owner: WEB },
      controller: WEB,
      facts: { isSticky: true, holder: { owner: WEB } },
    },
    {
      name: 'a pod that has got itself a StatefulSet since',
      holder: { owner: { ...WEB, kind: 'Deployment' } },
      controller: WEB,
      facts: { isSticky: false, holder: { kind: 'Pod', owner: { ...WEB, kind: 'Deployment' } } },
    },
    {
      name: 'a VMI that has migrated here',
      holder: { kind: 'VirtualMachineInstance', name: 'vm-1', owner: { ...VMI, uid: 'o1' }, sticky: true },
      controller: VMI,
      facts: { isSticky: true, isMigrationTarget: false, holder: { kind: 'VirtualMachineInstance', name: 'vm-1' } },
    },
  ])('$name', async ({ holder, controller = null, facts }) => {
    expect(await resolve({ controller, ports: stored(holder) ?? {} })).toMatchObject(facts);
  });
});

test('what the pod says and is not so is a warning, and told to who looks at the pod', async () => {
  const told: string[] = [];
  const refused = { vmi: null, sticky: false, isMigrationTarget: false, refused: ['no such set'], owner: WEB };
  const ports = {
    owners: { verify: async () => refused },
    onRefused: (_: NodePod, why: string) => void told.push(why),
  };
  const facts = await resolve({ controller: WEB, ports });
  expect(facts).toMatchObject({ isSticky: false, warnings: ['no such set'], holder: { sticky: false } });
  expect(told).toEqual(['no such set']);
});

test('a Multus annotation that nobody can read is a warning, and the reason for whom it concerns', async () => {
  const annotations = { 'k8s.v1.cni.cncf.io/networks': '[' };
  const { request, warnings } = await resolve({ pod: { annotations }, args: { ifName: 'net1' } });
  expect(request).toMatchObject({ multusName: null, interfaceIndex: null });
  expect(warnings).toEqual([expect.stringMatching(/^annotation k8s.v1.cni.cncf.io\/networks: bad JSON/)]);
  expect(request.multusUnknownBecause).toBe(warnings[0]);
});

test.each<{ name: string; wish: Wish; message: string }>([
  {
    name: 'no pod name',
    wish: { args: { podName: '' } },
    message: 'the call names no pod (K8S_POD_NAMESPACE and K8S_POD_NAME in CNI_ARGS); this agent serves pods only',
  },
  {
    name: 'no pod namespace',
    wish: { args: { podNamespace: '' } },
    message: 'the call names no pod (K8S_POD_NAMESPACE and K8S_POD_NAME in CNI_ARGS); this agent serves pods only',
  },
  { name: 'no such pod', wish: { pod: null }, message: 'pod prod/web-0 with UID u1 does not exist, or not any more' },
  {
    name: 'no such pod, without a UID',
    wish: { pod: null, args: { podUID: '' } },
    message: 'pod prod/web-0 does not exist, or not any more',
  },
  {
    name: 'another UID',
    wish: { pod: { uid: 'u2' } },
    message: 'pod prod/web-0 with UID u1 was replaced by another with UID u2',
  },
  {
    name: 'a dead pod',
    wish: { pod: { isAlive: false, endedBecause: 'it was evicted' } },
    message: 'pod prod/web-0 with UID u1 is dead: it was evicted',
  },
  {
    name: 'a namespace that is gone',
    wish: { ports: { namespaces: { find: async () => null } } },
    message: 'namespace prod of pod web-0 does not exist any more',
  },
])('refused: $name', async ({ wish, message }) => {
  const reason = message.startsWith('the call names no pod') ? 'bad-input' : 'unknown-pod';
  await expect(resolve(wish)).rejects.toMatchObject({ reason, message });
});

test('routes that nobody can read are refused', async () => {
  const wish = { pod: { annotations: { 'ipam.spidernet.io/routes': '{}' } } };
  const message = 'annotation ipam.spidernet.io/routes: the value must be a list, is an object';
  await expect(resolve(wish)).rejects.toMatchObject({ reason: 'bad-annotation', message });
});

test('a namespace that this agent does not see leaves no evidence', async () => {
  const { holder } = await resolve({ args: { netNamespace: '/nowhere/at/all' } });
  expect(holder).not.toHaveProperty('netns');
  expect(holder).not.toHaveProperty('bootID');
});

test('the record of a static pod is marked, that of another pod is not', async () => {
  expect((await resolve({ pod: { isStatic: true } })).holder).toMatchObject({ static: true });
  expect((await resolve({})).holder).not.toHaveProperty('static');
});
