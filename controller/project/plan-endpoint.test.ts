import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Holder, IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { type EndpointFacts, type EndpointRules, type EndpointStep, planEndpoint } from './plan-endpoint.ts';

const RULES: EndpointRules = { enableStatefulSet: true, enableCleanOutdatedEndpoint: false };
const FINALIZER = 'spiderpool.spidernet.io';
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const STATEFUL_SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };

const record = (address: string, holder: Partial<Holder> = {}, more: Partial<RecordSpec> = {}): IpRecord =>
  buildRecord({
    address,
    pool: { kind: 'SpiderIPPool', name: address.includes(':') ? 'v6' : 'v4', uid: 'p' },
    ...more,
    holder: { kind: 'Pod', namespace: 'prod', name: 'web-x', uid: 'u1', node: 'n1', owner: DEPLOYMENT, ...holder },
  });

const facts = (more: Partial<EndpointFacts> = {}): EndpointFacts => ({
  namespace: 'prod',
  name: 'web-x',
  records: [record('10.0.0.5')],
  pod: { uid: 'u1', runtimeUid: 'u1' },
  existing: null,
  ...more,
});

const plan = (more: Partial<EndpointFacts> = {}, rules: Partial<EndpointRules> = {}) =>
  planEndpoint(facts(more), { ...RULES, ...rules });

/** What the API server would keep of a step that creates or updates. */
function stored(step: EndpointStep | undefined, more: object = {}): KubeObject {
  if (step === undefined || step.do === 'remove') throw new Error('nothing is stored');
  const { metadata, ...rest } = step.object;
  return { ...rest, metadata: { uid: 'e1', resourceVersion: '7', ...metadata, ...more } } as KubeObject;
}

test('the endpoint of a stateless pod belongs to the pod and shows all its interfaces', () => {
  const routes = [{ dst: '10.7.0.0/16', gw: '10.0.0.2' }];
  const [step, ...rest] = plan({
    records: [
      record('fd00::5', { interface: 'net1' }, { prefix: 64 }),
      record('10.1.0.5', { interface: 'net1' }, { prefix: 16, gateway: '10.1.0.1', cleanGateway: true, routes }),
      record('10.0.0.5', {}, { gateway: '10.0.0.1' }),
    ],
  });
  expect(rest).toEqual([]);
  expect(step).toEqual({
    do: 'create',
    object: {
      metadata: {
        namespace: 'prod',
        name: 'web-x',
        annotations: { 'ipledger.io/projected': 'true' },
        finalizers: [FINALIZER],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web-x', uid: 'u1' }],
      },
      status: {
        ownerControllerType: 'Deployment',
        ownerControllerName: 'web',
        current: {
          uid: 'u1',
          node: 'n1',
          ips: [
            {
              interface: 'eth0',
              ipv4: '10.0.0.5/24',
              ipv4Pool: 'v4',
              ipv4Gateway: '10.0.0.1',
              vlan: 0,
              cleanGateway: false,
            },
            {
              interface: 'net1',
              ipv4: '10.1.0.5/16',
              ipv4Pool: 'v4',
              ipv4Gateway: '10.1.0.1',
              ipv6: 'fd00::5/64',
              ipv6Pool: 'v6',
              vlan: 0,
              cleanGateway: true,
              routes,
            },
          ],
        },
      },
    },
  });
});

test('a mirror pod is owned by its object, and shown with the UID of the call', () => {
  const [step] = plan({ pod: { uid: 'mirror', runtimeUid: 'u1' } });
  expect(stored(step).metadata.ownerReferences).toMatchObject([{ uid: 'mirror' }]);
  expect(stored(step)['status']).toMatchObject({ current: { uid: 'u1' } });
});

test.each([
  { name: 'a pod of a StatefulSet', holder: { name: 'web-0', owner: STATEFUL_SET } },
  { name: 'a virtual machine', holder: { kind: 'VirtualMachineInstance' as const } },
])('the endpoint of $name has no owner, and is there without the pod', ({ holder }) => {
  const [step] = plan({ records: [record('10.0.0.5', holder)], pod: null });
  expect(stored(step).metadata).toMatchObject({ finalizers: [FINALIZER] });
  expect(stored(step).metadata.ownerReferences).toBeUndefined();
});

test('without enableStatefulSet its pods are like others', () => {
  const records = [record('10.0.0.5', { name: 'web-0', owner: STATEFUL_SET })];
  const [step] = plan({ records }, { enableStatefulSet: false });
  expect(stored(step).metadata.ownerReferences).toMatchObject([{ kind: 'Pod' }]);
});

test('a pod that only says it is of a StatefulSet, and has no ordinal, is like others', () => {
  const [step] = plan({ records: [record('10.0.0.5', { owner: STATEFUL_SET })] });
  expect(stored(step).metadata.ownerReferences).toMatchObject([{ kind: 'Pod' }]);
});

test('a bare pod is its own controller', () => {
  const { owner: _, ...holder } = record('10.0.0.5').spec.holder;
  const [step] = plan({ records: [{ ...record('10.0.0.5'), spec: { ...record('10.0.0.5').spec, holder } }] });
  expect(stored(step)['status']).toMatchObject({ ownerControllerType: 'Pod', ownerControllerName: 'web-x' });
});

describe('a pod of a StatefulSet that left one pool and came back to it', () => {
  const web0 = (uid: string): Partial<Holder> => ({ name: 'web-0', owner: STATEFUL_SET, uid });
  const taken = { ...record('10.0.0.5', web0('u3')), createdAt: '2026-11-16T10:00:00Z' };
  const left = { ...record('10.9.0.7', web0(''), { state: 'Retained' }), createdAt: '2026-11-16T11:00:00Z' };

  test.each([
    { name: 'while the pod is known', pod: { uid: 'u3', runtimeUid: 'u3' } },
    { name: 'while the pod is not seen yet', pod: null },
  ])('is shown with the address that it has, not with the younger record, $name', ({ pod }) => {
    const [step] = plan({ records: [left, taken], pod });
    expect(stored(step)['status']).toMatchObject({ current: { uid: 'u3', ips: [{ ipv4: '10.0.0.5/24' }] } });
  });

  test('is not shown with an interface that only an earlier pod had', () => {
    const net1 = record('10.9.0.8', { ...web0(''), interface: 'net1' }, { state: 'Retained' });
    const [step] = plan({ records: [net1, taken], pod: { uid: 'u3', runtimeUid: 'u3' } });
    expect(stored(step)['status']).toMatchObject({ current: { ips: [{ interface: 'eth0' }] } });
  });
});

test('none is made for a pod that is gone', () => {
  expect(plan({ pod: null })).toEqual([]);
  expect(plan({ pod: { uid: 'u2', runtimeUid: 'u2' } })).toEqual([]);
});

describe('an endpoint that is there', () => {
  const existing = stored(plan()[0]);

  test('stays as it is while it is right', () => {
    expect(plan({ existing })).toEqual([]);
    expect(plan({ existing, pod: null })).toEqual([]);
  });

  test.each([
    { name: 'its addresses', edited: { ...existing, status: { current: { uid: 'u1', node: 'n1', ips: [] } } } },
    { name: 'its finalizer', edited: { ...existing, metadata: { ...existing.metadata, finalizers: [] } } },
    { name: 'its owner', edited: { ...existing, metadata: { ...existing.metadata, ownerReferences: [] } } },
  ])('is repaired where somebody changed $name', ({ edited }) => {
    const [step, ...rest] = plan({ existing: edited });
    expect(rest).toEqual([]);
    expect(step?.do).toBe('update');
    expect(stored(step)).toEqual(existing);
  });

  test('keeps what others put into its metadata', () => {
    const metadata = { ...existing.metadata, labels: { a: 'b' }, finalizers: ['foreign.io/x'] };
    const [step] = plan({ existing: { ...existing, metadata } });
    expect(stored(step).metadata).toMatchObject({ labels: { a: 'b' }, finalizers: ['foreign.io/x', FINALIZER] });
  });

  test('shows the pod that has the name now, not the one before', () => {
    const records = [record('10.0.0.5'), { ...record('10.0.0.6', { uid: 'u2' }), createdAt: '2026-11-16T11:00:00Z' }];
    const [step] = plan({ existing, records, pod: { uid: 'u2', runtimeUid: 'u2' } });
    expect(stored(step)['status']).toMatchObject({ current: { uid: 'u2', ips: [{ ipv4: '10.0.0.6/24' }] } });
    expect(stored(step).metadata.ownerReferences).toMatchObject([{ uid: 'u2' }]);
  });

  test.each([
    { name: 'without records', records: [] },
    { name: 'with a cooling address', records: [record('10.0.0.5', {}, { state: 'Cooling' })] },
  ])('loses its finalizer and goes, $name', ({ records }) => {
    const steps = plan({ existing, records });
    expect(steps.map((step) => step.do)).toEqual(['update', 'remove']);
    expect(stored(steps[0]).metadata.finalizers).toEqual([]);
  });

  test('and not of our making is left alone without records, unless told otherwise', () => {
    const { annotations: _, ...metadata } = existing.metadata;
    const legacy = { ...existing, metadata };
    expect(plan({ existing: legacy, records: [] })).toEqual([]);
    const steps = plan({ existing: legacy, records: [] }, { enableCleanOutdatedEndpoint: true });
    expect(steps.map((step) => step.do)).toEqual(['update', 'remove']);
  });
});

describe('an endpoint that is being deleted', () => {
  const existing = stored(plan()[0], { deletionTimestamp: '2026-11-16T10:00:00Z' });

  test('is held while its pod is gone and its addresses are not', () => {
    expect(plan({ existing, pod: null })).toEqual([]);
  });

  test('is let go when the last address is back', () => {
    const steps = plan({ existing, records: [], pod: null });
    expect(steps.map((step) => step.do)).toEqual(['update']);
    expect(stored(steps[0]).metadata.finalizers).toEqual([]);
  });

  test('is let go to be made anew while its pod lives', () => {
    expect(plan({ existing }).map((step) => step.do)).toEqual(['update']);
    expect(plan({ existing: null }).map((step) => step.do)).toEqual(['create']);
  });
});
