import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { decodeIpamConf } from '#pkg/cni/net-conf.ts';
import { JsonFields } from '#pkg/cni/untrusted-input.ts';
import { startAgentOf, startPodCluster } from './pod-cluster.ts';

const readPage = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

/** The example of a pool, a network and a pod. */
function exampleOf(page: string): string {
  const [, first = ''] = page.split(
    /(?=apiVersion: spiderpool.spidernet.io\/v2beta1\nkind: SpiderIPPool\nmetadata: \{ name: lab \})/,
  );
  const [example = ''] = first.split(/^(?:EOF|```)$/m);
  return example;
}

test('the first pod of the pages gets an address of the pool that its network names', async () => {
  const example = exampleOf(readPage('README.md'));
  expect(exampleOf(readPage('docs/cluster.md'))).toBe(example);
  const [pool, network, pod] = parseAllDocuments(example).map((it) => it.toJS());
  expect(pod.metadata.annotations['k8s.v1.cni.cncf.io/networks']).toBe(network.metadata.name);
  const conf = new JsonFields(JSON.parse(network.spec.config), '', 'bad-config');
  const { ipv4Pools, ipv6Pools, warnings } = decodeIpamConf(conf);
  expect([ipv4Pools, warnings]).toEqual([[pool.metadata.name], []]);

  await using cluster = await startPodCluster();
  await cluster.createPool(pool.metadata.name, pool.spec);
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const { name, namespace, annotations } = pod.metadata;
  const created = await cluster.createPod({ name, namespace, annotations });
  const named = { defaultIPv4IPPool: ipv4Pools, defaultIPv6IPPool: ipv6Pools };
  const asked = { ifName: 'net1', network: network.metadata.name, ...named };
  const { ips } = await agent.add(created, asked);
  expect(ips).toMatchObject([{ address: expect.stringMatching(/^10\.6\.0\.\d+\/24$/), nic: 'net1', ipPool: 'lab' }]);
});
