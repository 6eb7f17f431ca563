import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { network } from '#test/support/build-configuration.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { planVitistack } from './plan-vitistack.ts';
import type { VitistackClaim } from './vitistack-claims.ts';

const KEY = 'datacenter-01/prod-network';

function claim(
  address: string,
  name: string,
  uid: string | null = null,
  createdAt = '2026-11-01T00:00:00Z',
): VitistackClaim {
  return {
    address: parseAddress(address),
    namespace: 'datacenter-01',
    allocation: { name, uid },
    networkNamespace: 'prod-network',
    configuration: 'web',
    createdAt,
    source: `${uid === null ? 'NetworkConfiguration' : 'IPAllocation'} datacenter-01/${name}`,
  };
}

function plan(claims: readonly VitistackClaim[], records: readonly IpRecord[] = [], networks = [network()]) {
  return planVitistack({
    claims,
    networks: new Map(networks.map((it) => [`${it.namespace}/${it.name}`, it])),
    records: new Map(records.map((it) => [it.name, it])),
  });
}

const holder = { kind: 'IPAllocation', namespace: 'datacenter-01', interface: '', attachGeneration: 1, node: '' };

test('an address of a status gets a record that names the IPAllocation which is not made yet', () => {
  expect(plan([claim('10.0.2.50', 'web-eth0')])).toEqual({
    create: [
      {
        address: '10.0.2.50',
        prefix: 24,
        gateway: '10.0.2.1',
        domain: 'default',
        pool: { kind: 'NetworkNamespace', name: KEY, uid: 'uid-of-prod-network' },
        state: 'Allocated',
        holder: {
          ...holder,
          name: 'web-eth0',
          owner: { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: 'web' },
        },
      },
    ],
    collisions: [],
  });
});

test('an IPAllocation gets a record with its uid', () => {
  const { create } = plan([claim('10.0.2.50', 'web-eth0', 'u1')]);
  expect(create).toMatchObject([{ holder: { name: 'web-eth0', uid: 'u1' } }]);
});

test('the record is in the domain of its network', () => {
  const blue = network({}, { annotations: { 'ipledger.io/domain': 'blue' } });
  expect(plan([claim('10.0.2.50', 'web-eth0')], [], [blue]).create).toMatchObject([{ domain: 'blue' }]);
});

test('of a network that is gone the address alone is known', () => {
  expect(plan([claim('10.0.2.50', 'web-eth0')], [], []).create).toMatchObject([
    { prefix: 32, pool: { name: KEY, uid: '' } },
  ]);
});

test('of several the IPAllocation has it, then the oldest, and all are named', () => {
  const three = [
    claim('10.0.2.50', 'younger', null, '2026-11-02T00:00:00Z'),
    claim('10.0.2.50', 'older'),
    claim('10.0.2.50', 'own', 'u1', '2026-11-03T00:00:00Z'),
  ];
  const { create, collisions } = plan(three);
  expect(create).toMatchObject([{ holder: { name: 'own' } }]);
  expect(collisions).toEqual([
    '10.0.2.50 is claimed by IPAllocation datacenter-01/own and NetworkConfiguration datacenter-01/older and NetworkConfiguration datacenter-01/younger; the first one has it',
  ]);
});

test('what a pod has stays its own, and that is said', () => {
  const pod = { kind: 'Pod', namespace: 'prod', name: 'web-0', node: 'worker-1' } as const;
  const { create, collisions } = plan(
    [claim('10.0.2.50', 'web-eth0')],
    [buildRecord({ address: '10.0.2.50', holder: pod })],
  );
  expect(create).toEqual([]);
  expect(collisions).toEqual([
    '10.0.2.50 is claimed by Pod prod/web-0 eth0 on worker-1 and NetworkConfiguration datacenter-01/web-eth0; the first one has it',
  ]);
});

test('once imported there is nothing to do, also when the IPAllocation has been made', () => {
  const record = (uid?: string) => {
    const made = buildRecord({ address: '10.0.2.50', holder: { ...holder, kind: 'IPAllocation', name: 'web-eth0' } });
    const { uid: _, ...rest } = made.spec.holder;
    return { ...made, spec: { ...made.spec, holder: { ...rest, ...(uid === undefined ? {} : { uid }) } } };
  };
  for (const [has, wants] of [
    [undefined, null],
    [undefined, 'u1'],
    ['u1', null],
    ['u1', 'u1'],
  ] as const) {
    expect(plan([claim('10.0.2.50', 'web-eth0', wants)], [record(has)])).toEqual({ create: [], collisions: [] });
  }
  expect(plan([claim('10.0.2.50', 'web-eth0', 'u2')], [record('u1')]).collisions).toHaveLength(1);
});
