import { expect, test } from 'vitest';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { planPoolAdoption } from './adopt-pool.ts';

const API = { apiVersion: 'spiderpool.spidernet.io/v2beta1' };
const LABEL = 'ipam.spidernet.io/owner-spider-subnet';

const subnet = (name: string, spec: object = {}, metadata: object = {}) => {
  const object = {
    ...API,
    kind: 'SpiderSubnet',
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1', ...metadata },
    spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.99'], ...spec },
  };
  return { ...decodeSpiderSubnet(object), object };
};

const poolObject = (metadata: object = {}, spec: object = {}): KubeObject => ({
  ...API,
  kind: 'SpiderIPPool',
  metadata: { name: 'p', uid: 'u', resourceVersion: '7', ...metadata },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.19'], ...spec },
  status: { totalIPCount: 10 },
});
const plan = (object: KubeObject, ...subnets: ReturnType<typeof subnet>[]) =>
  planPoolAdoption(object, decodePool(object), subnets);
const owner = (name: string, more: object = {}) => ({
  kind: 'SpiderSubnet',
  uid: `uid-of-${name}`,
  controller: true,
  ...more,
});

test('a pool inside a subnet gets owner, label, gateway and routes in one update, and that is all', () => {
  const routes = [{ dst: '10.9.0.0/16', gw: '10.0.0.2' }];
  const object = poolObject({ labels: { team: 'a' } });
  const next = plan(object, subnet('office', { gateway: '10.0.0.254', routes }));
  expect(next).toMatchObject({
    metadata: {
      resourceVersion: '7',
      labels: { team: 'a', [LABEL]: 'office' },
      ownerReferences: [{ name: 'office', uid: 'uid-of-office', controller: true }],
    },
    spec: { ips: ['10.0.0.10-10.0.0.19'], gateway: '10.0.0.254', routes },
  });
  expect(next).not.toHaveProperty('status');
  expect(plan(next as KubeObject, subnet('office', { gateway: '10.0.0.254', routes }))).toBeNull();
});

test('its own gateway and routes stay', () => {
  const object = poolObject({}, { gateway: '10.0.0.253', routes: [] });
  const next = plan(
    object,
    subnet('office', { gateway: '10.0.0.254', routes: [{ dst: '10.9.0.0/16', gw: '10.0.0.2' }] }),
  );
  expect(next?.['spec']).toMatchObject({ gateway: '10.0.0.253', routes: [] });
});

test('a gateway that the pool gives out is not taken over', () => {
  expect(plan(poolObject(), subnet('office', { gateway: '10.0.0.12' }))?.['spec']).not.toHaveProperty('gateway');
});

test.each([
  { name: 'of another network', subnets: [subnet('s', { subnet: '10.1.0.0/24', ips: [] })] },
  { name: 'of another domain', subnets: [subnet('s', {}, { annotations: { 'ipledger.io/domain': 'blue' } })] },
  { name: 'that is being deleted', subnets: [subnet('s', {}, { deletionTimestamp: 'now' })] },
  { name: 'without some of its addresses', subnets: [subnet('s', { ips: ['10.0.0.1-10.0.0.15'] })] },
])('no subnet $name', ({ subnets }) => expect(plan(poolObject(), ...subnets)).toBeNull());

test.each([
  { name: 'with a controller of another kind', metadata: { ownerReferences: [owner('x', { kind: 'Fabric' })] } },
  { name: 'that is being deleted', metadata: { deletionTimestamp: 'now' } },
  {
    name: 'that was made for an application',
    metadata: {
      labels: {
        'ipam.spidernet.io/owner-application-name': 'web',
        'ipam.spidernet.io/owner-application-uid': 'u',
        [LABEL]: 'old',
      },
    },
  },
])('no pool $name', ({ metadata }) => expect(plan(poolObject(metadata), subnet('office'))).toBeNull());

test('a subnet that was created again takes its pool back', () => {
  const next = plan(poolObject({ ownerReferences: [owner('gone')] }), subnet('office'));
  expect(next?.metadata.ownerReferences).toMatchObject([{ uid: 'uid-of-office' }]);
});

test('of two subnets of one network the owner stays, and a missing label comes back', () => {
  const object = poolObject({ ownerReferences: [owner('b')] });
  const next = plan(object, subnet('a', { gateway: '10.0.0.254' }), subnet('b', { gateway: '10.0.0.254' }));
  expect(next?.metadata).toMatchObject({ ownerReferences: [owner('b')], labels: { [LABEL]: 'b' } });
  expect(next?.['spec']).not.toHaveProperty('gateway');
});
