import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findMultusSelection, type MultusQuestion } from './multus-selection.ts';

const DEFAULT = 'v1.multus-cni.io/default-network';
const NETWORKS = 'k8s.v1.cni.cncf.io/networks';

const ask = (question: Partial<MultusQuestion>) =>
  findMultusSelection({
    annotations: {},
    interface: 'eth0',
    podNamespace: 'prod',
    multusNamespace: 'ipledger',
    clusterNetwork: null,
    ...question,
  });

describe('eth0', () => {
  test.each<{ name: string; text?: string; clusterNetwork?: string; expected: string }>([
    { name: 'the annotation, with a namespace', text: 'infra/macvlan', expected: 'infra/macvlan' },
    { name: 'the annotation, without one: that of the agent', text: 'macvlan', expected: 'ipledger/macvlan' },
    { name: 'the annotation, with an interface', text: 'infra/macvlan@eth0', expected: 'infra/macvlan' },
    { name: 'the annotation as JSON', text: '[{"name":"macvlan","namespace":"infra"}]', expected: 'infra/macvlan' },
    { name: 'MULTUS_CLUSTER_NETWORK', clusterNetwork: 'infra/default', expected: 'infra/default' },
    { name: 'MULTUS_CLUSTER_NETWORK without a namespace', clusterNetwork: 'default', expected: 'ipledger/default' },
    { name: 'the annotation wins', text: 'a/b', clusterNetwork: 'infra/default', expected: 'a/b' },
    { name: 'an empty annotation is none', text: '', clusterNetwork: 'infra/default', expected: 'infra/default' },
  ])('$name', ({ text, clusterNetwork, expected }) => {
    const annotations = text === undefined ? {} : { [DEFAULT]: text };
    expect(ask({ annotations, clusterNetwork: clusterNetwork ?? null })).toEqual({
      multusName: expected,
      index: 0,
      unknownBecause: null,
      warnings: [],
    });
  });

  test.each<{ name: string; text?: string; because: string }>([
    {
      name: 'neither annotation nor MULTUS_CLUSTER_NETWORK',
      because: `the pod has no annotation ${DEFAULT} and MULTUS_CLUSTER_NETWORK is not set`,
    },
    {
      name: 'two networks',
      text: 'a/b,c/d',
      because: `annotation ${DEFAULT} must name exactly one network, it names 2`,
    },
    { name: 'no network', text: '[]', because: `annotation ${DEFAULT} must name exactly one network, it names 0` },
  ])('the network is unknown, its place is not: $name', ({ text, because }) => {
    const annotations = text === undefined ? {} : { [DEFAULT]: text };
    expect(ask({ annotations })).toEqual({ multusName: null, index: 0, unknownBecause: because, warnings: [] });
  });

  test('a broken list of the other interfaces is not its business', () => {
    expect(ask({ annotations: { [NETWORKS]: '[{' }, clusterNetwork: 'a/b' })).toMatchObject({
      multusName: 'a/b',
      warnings: [],
    });
  });
});

describe('another interface', () => {
  const list = JSON.stringify([
    { name: 'a', ips: ['10.0.0.1/24'], 'cni-args': { x: 1 } },
    { name: 'b', namespace: 'infra', interface: 'data' },
    { Name: 'c', mac: 'aa:bb:cc:dd:ee:ff' },
  ]);
  test.each<{ name: string; text: string; nic: string; multusName: string; index: number }>([
    { name: 'by name', text: 'a@x,infra/b@y', nic: 'y', multusName: 'infra/b', index: 2 },
    { name: 'without a namespace: that of the pod', text: 'a', nic: 'net1', multusName: 'prod/a', index: 1 },
    { name: 'missing names count net1, net2', text: 'a,b', nic: 'net2', multusName: 'prod/b', index: 2 },
    { name: 'a missing name counts its place', text: 'a@x,b', nic: 'net2', multusName: 'prod/b', index: 2 },
    { name: 'blanks around items', text: ' a , infra / b @ y ', nic: 'y', multusName: 'infra/b', index: 2 },
    { name: 'the same network twice', text: 'a,a', nic: 'net2', multusName: 'prod/a', index: 2 },
    { name: 'JSON without a namespace', text: list, nic: 'net1', multusName: 'prod/a', index: 1 },
    { name: 'JSON with all names', text: list, nic: 'data', multusName: 'infra/b', index: 2 },
    { name: 'JSON with a key in another case', text: list, nic: 'net3', multusName: 'prod/c', index: 3 },
  ])('$name', ({ text, nic, multusName, index }) => {
    expect(ask({ annotations: { [NETWORKS]: text }, interface: nic })).toEqual({
      multusName,
      index,
      unknownBecause: null,
      warnings: [],
    });
  });

  test('without the annotation, and not in it', () => {
    expect(ask({ interface: 'net1', clusterNetwork: 'a/b' })).toEqual({
      multusName: null,
      index: null,
      unknownBecause: `the pod has no annotation ${NETWORKS}`,
      warnings: [],
    });
    expect(ask({ interface: 'net3', annotations: { [NETWORKS]: 'a,b@x' } }).unknownBecause).toBe(
      `annotation ${NETWORKS} has no interface "net3", only "net1", "x"`,
    );
  });
});

describe('what cannot be read is a warning, and the reason for whoever needs the answer', () => {
  test.each<{ name: string; text: string; fault: string }>([
    { name: 'bad JSON', text: '[{"name":', fault: 'bad JSON: Unexpected end of JSON input' },
    { name: 'no list', text: '{"name":"a"}', fault: 'the value must be a list, is an object' },
    { name: 'an item that is no object', text: '["a"]', fault: '[0] must be an object, is a string' },
    { name: 'no name', text: '[{"namespace":"a"}]', fault: 'item 0: "" is not a name' },
    { name: 'a name of another type', text: '[{"name":7}]', fault: '[0].name must be a string, is a number' },
    { name: 'a name with capitals', text: 'A', fault: 'item 0: "A" is not a name' },
    { name: 'an empty item', text: 'a,,b', fault: 'item 1: "" is not a name' },
    { name: 'two slashes', text: 'a/b/c', fault: 'item 0 is not of the form namespace/name@interface' },
    { name: 'two at signs', text: 'a@b@c', fault: 'item 0 is not of the form namespace/name@interface' },
    { name: 'too many', text: 'a,'.repeat(100), fault: 'the value has 101 items, at most 100 are read' },
    { name: 'too long', text: 'a'.repeat(65_537), fault: '65537 bytes are too long, at most 65536 are read' },
  ])('$name', ({ text, fault }) => {
    const because = `annotation ${NETWORKS}: ${fault}`;
    expect(ask({ annotations: { [NETWORKS]: text }, interface: 'net1' })).toEqual({
      multusName: null,
      index: null,
      unknownBecause: because,
      warnings: [because],
    });
  });

  test('eth0 keeps its place', () => {
    const { index, multusName, warnings } = ask({ annotations: { [DEFAULT]: '[' } });
    expect([index, multusName, warnings.length]).toEqual([0, null, 1]);
  });

  test('whatever is written, there is an answer', () => {
    const text = fc.oneof(fc.string(), fc.json(), fc.stringMatching(/^[a-z/@, ]*$/));
    fc.assert(
      fc.property(text, fc.constantFrom('eth0', 'net1', 'x'), (written, nic) => {
        const annotations = { [DEFAULT]: written, [NETWORKS]: written };
        const answer = ask({ annotations, interface: nic });
        expect(answer.multusName === null).toBe(answer.unknownBecause !== null);
      }),
    );
  });
});
