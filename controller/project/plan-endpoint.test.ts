import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Holder, IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { buildRecord } from '#test/support/build-record.ts';
import {
  applyChange,
  type EndpointFacts,
  type EndpointRules,
  type EndpointStep,
  planEndpoint,
} from './plan-endpoint.ts';
import { toSeenEndpoint } from './seen-endpoint.ts';

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

type Wish = Partial<Omit<EndpointFacts, 'existing'>> & { readonly existing?: KubeObject | null };

const plan = ({ existing = null, ...more }: Wish = {}, rules: Partial<EndpointRules> = {}) =>
  planEndpoint(
    { ...facts(more), existing: existing === null ? null : toSeenEndpoint(existing) },
    { ...RULES, ...rules },
  );

/** What the API server would keep of a step that creates. */
function stored(step: EndpointStep | undefined, more: object = {}): KubeObject {
  if (step?.do !== 'create') throw new Error('nothing is created');
  const { metadata, ...rest } = step.object;
  return { ...rest, metadata: { uid: 'e1', resourceVersion: '7', ...metadata, ...more } } as KubeObject;
}

/** The object after the update of a step. */
function changed(object: KubeObject, step: EndpointStep | undefined): KubeObject {
  if (step?.do !== 'update') throw new Error('nothing is updated');
  return applyChange(object, step.change);
}

/** As Spiderpool makes them, and this controller did once. */
const OWNED = {
  finalizers: [FINALIZER],
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web-x', uid: 'u1' }],
};

test('the endpoint of a pod shows all its interfaces, and nobody else deletes it or has to let it go', () => {
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

test('a mirror pod is shown with the UID of the call', () => {
  const [step] = plan({ pod: { uid: 'mirror', runtimeUid: 'u1' } });
  expect(stored(step)['status']).toMatchObject({ current: { uid: 'u1' } });
});

test.each([
  { name: 'a pod of a StatefulSet', holder: { name: 'web-0', owner: STATEFUL_SET } },
  { name: 'a virtual machine', holder: { kind: 'VirtualMachineInstance' as const } },
])('the endpoint of $name is there without the pod', ({ holder }) => {
  const [step] = plan({ records: [record('10.0.0.5', holder)], pod: null });
  expect(step?.do).toBe('create');
});

test.each([
  { name: 'without enableStatefulSet its pods', holder: { name: 'web-0', owner: STATEFUL_SET }, enabled: false },
  {
    name: 'pods that only say they are of a StatefulSet, and have no ordinal,',
    holder: { owner: STATEFUL_SET },
    enabled: true,
  },
])('$name are like others', ({ holder, enabled: enableStatefulSet }) => {
  expect(plan({ records: [record('10.0.0.5', holder)], pod: null }, { enableStatefulSet })).toEqual([]);
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
    { name: 'our mark', edited: { ...existing, metadata: { ...existing.metadata, annotations: {} } } },
  ])('is repaired where somebody changed $name', ({ edited }) => {
    const [step, ...rest] = plan({ existing: edited });
    expect(rest).toEqual([]);
    expect(changed(edited, step)).toEqual(existing);
  });

  test('stays as it is whatever the order of its fields', () => {
    const { current, ...rest } = existing['status'] as { current: { ips: object[] } };
    const [ip = {}] = current.ips;
    const turned = { ...current, ips: [Object.fromEntries(Object.entries(ip).reverse())] };
    expect(plan({ existing: { ...existing, status: { current: turned, ...rest } } })).toEqual([]);
  });

  test('keeps what others put into its metadata', () => {
    const metadata = {
      ...existing.metadata,
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['foreign.io/x'],
    };
    const edited = { ...existing, metadata };
    const [step] = plan({ existing: edited });
    expect(changed(edited, step).metadata).toEqual({
      ...metadata,
      annotations: { c: 'd', 'ipledger.io/projected': 'true' },
    });
  });

  test('shows the pod that has the name now, not the one before', () => {
    const records = [record('10.0.0.5'), { ...record('10.0.0.6', { uid: 'u2' }), createdAt: '2026-11-16T11:00:00Z' }];
    const [step] = plan({ existing, records, pod: { uid: 'u2', runtimeUid: 'u2' } });
    const after = changed(existing, step);
    expect(after['status']).toMatchObject({ current: { uid: 'u2', ips: [{ ipv4: '10.0.0.6/24' }] } });
  });

  test.each([
    { name: 'without records', records: [] },
    { name: 'with a cooling address', records: [record('10.0.0.5', {}, { state: 'Cooling' })] },
  ])('goes with one delete, $name', ({ records }) => {
    expect(plan({ existing, records })).toEqual([{ do: 'remove' }]);
  });

  test('and not of our making is left alone without records, unless told otherwise', () => {
    const { annotations: _, ...metadata } = existing.metadata;
    const legacy = { ...existing, metadata: { ...metadata, finalizers: [FINALIZER] } };
    expect(plan({ existing: legacy, records: [] })).toEqual([]);
    const steps = plan({ existing: legacy, records: [] }, { enableCleanOutdatedEndpoint: true });
    expect(steps.map((step) => step.do)).toEqual(['update', 'remove']);
    expect(changed(legacy, steps[0]).metadata.finalizers).toEqual([]);
  });

  test('of another manager goes once it is deleted: only its finalizer is taken off, and its namespace can end', () => {
    const { annotations: _, ...metadata } = existing.metadata;
    const deleted = { ...metadata, finalizers: [FINALIZER], deletionTimestamp: '2026-11-16T10:00:00Z' };
    const legacy = { ...existing, metadata: deleted };
    const steps = plan({ existing: legacy, records: [] });
    expect(steps.map((step) => step.do)).toEqual(['update']);
    expect(changed(legacy, steps[0]).metadata.finalizers).toEqual([]);
  });
});

describe('an endpoint with an owner and our finalizer', () => {
  const existing = stored(plan()[0], OWNED);

  test('stays as it is while its owner is the pod', () => {
    expect(plan({ existing })).toEqual([]);
    expect(plan({ existing, pod: null })).toEqual([]);
  });

  test('loses its owner where that would take it away from a pod that lives', () => {
    const records = [record('10.0.0.5', { uid: 'u2' })];
    const [step] = plan({ existing, records, pod: { uid: 'u2', runtimeUid: 'u2' } });
    expect(changed(existing, step).metadata).toMatchObject({ ownerReferences: [], finalizers: [FINALIZER] });
  });

  test('loses its owner where the addresses outlive the pod', () => {
    const records = [record('10.0.0.5', { name: 'web-0', owner: STATEFUL_SET })];
    const [step] = plan({ existing, records });
    expect(changed(existing, step).metadata.ownerReferences).toEqual([]);
  });

  test('loses its finalizer and goes, without records', () => {
    const steps = plan({ existing, records: [] });
    expect(steps.map((step) => step.do)).toEqual(['update', 'remove']);
    expect(changed(existing, steps[0]).metadata.finalizers).toEqual([]);
  });
});

describe('an endpoint that is being deleted', () => {
  const existing = stored(plan()[0], { ...OWNED, deletionTimestamp: '2026-11-16T10:00:00Z' });

  test('is held while its pod is gone and its addresses are not', () => {
    expect(plan({ existing, pod: null })).toEqual([]);
  });

  test('is let go when the last address is back', () => {
    const steps = plan({ existing, records: [], pod: null });
    expect(steps.map((step) => step.do)).toEqual(['update']);
    expect(changed(existing, steps[0]).metadata.finalizers).toEqual([]);
  });

  test('is let go to be made anew while its pod lives', () => {
    expect(plan({ existing }).map((step) => step.do)).toEqual(['update']);
    expect(plan({ existing: null }).map((step) => step.do)).toEqual(['create']);
  });
});
