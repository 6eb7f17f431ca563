import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { VERSION } from '#pkg/text/version.ts';
import { clusterApiPackage } from '../../hack/cluster-api-package.ts';
import { readRootFile } from './source-files.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly names: { readonly plural: string }; readonly group: string };
}

const files = clusterApiPackage();
const components = files.find(({ path }) => path.endsWith('ipam-components.yaml'))?.text ?? '';
const manifests = parseAllDocuments(components).map((it) => it.toJS() as Manifest);
const ofKind = (kind: string) => manifests.filter((it) => it.kind === kind);

test.each(files)('$path is up to date with the manifests of deploy/; if not, run hack/generate', ({ path, text }) => {
  expect(readRootFile(path)).toBe(text);
});

test('metadata.yaml names the series of this version, and the contract v1beta2', () => {
  const [major, minor] = VERSION.split('.').map(Number);
  const { releaseSeries } = parse(readRootFile('deploy/cluster-api/metadata.yaml')) as { releaseSeries: unknown };
  expect(releaseSeries).toEqual([{ major, minor, contract: 'v1beta2' }]);
});

test('every object says of which provider it is', () => {
  for (const { metadata } of manifests) expect(metadata.labels['cluster.x-k8s.io/provider']).toBe('ipam-ipledger');
});

test('there is one namespace, and everything that is namespaced lives in it', () => {
  expect(ofKind('Namespace').map(({ metadata }) => metadata.name)).toEqual(['ipledger']);
  expect(new Set(manifests.flatMap(({ metadata }) => metadata.namespace ?? []))).toEqual(new Set(['ipledger']));
});

test('no kind is in it that clusterctl takes for a namespaced one', () => {
  // clusterctl knows the kinds without a namespace by a list of its own, which lacks those of policies and of flow control.
  expect([...new Set(manifests.map(({ kind }) => kind))].sort()).toEqual([
    'ClusterRole',
    'ClusterRoleBinding',
    'ConfigMap',
    'CustomResourceDefinition',
    'Deployment',
    'MutatingWebhookConfiguration',
    'Namespace',
    'PodDisruptionBudget',
    'Role',
    'RoleBinding',
    'Service',
    'ServiceAccount',
    'ValidatingWebhookConfiguration',
  ]);
});

test('a CRD is named plural and group, and that of pools names its versions by contract', () => {
  for (const { metadata, spec } of ofKind('CustomResourceDefinition')) {
    expect(metadata.name).toBe(`${spec.names.plural}.${spec.group}`);
  }
  const pools = manifests.find(({ metadata }) => metadata.name === 'spiderippools.spiderpool.spidernet.io');
  expect(pools?.metadata.labels).toMatchObject({
    'clusterctl.cluster.x-k8s.io': '',
    'cluster.x-k8s.io/v1beta2': 'v2beta1',
  });
});

test('clusterctl finds no variables to fill in', () => {
  expect(components).not.toContain('${');
});
