import { expect, test } from 'vitest';
import { TWO_NICS_BY_IPLEDGER, UNDERLAY_BY_IPLEDGER, underlayByHostLocal } from './cni-config.ts';
import { containerdConfig, MAIN_CNI_DIRECTORY, SANDBOX_IMAGE } from './containerd-config.ts';
import { KUBELET_SYSCTLS, kubeletConfig } from './kubelet-config.ts';
import { planNodes } from './plan.ts';

test('nodes have names and addresses of their own', () => {
  const nodes = planNodes(3);
  expect(nodes.map(({ name }) => name)).toEqual(['n1', 'n2', 'n3']);
  expect(new Set(nodes.map(({ address }) => address)).size).toBe(3);
});

test.each([0, 10, 1.5, Number.NaN])('a cluster of %s nodes is refused', (count) => {
  expect(() => planNodes(count)).toThrow('1 to 9 nodes');
});

test('pods without a RuntimeClass use the main CNI directory, others that of their handler', () => {
  const text = containerdConfig([{ name: 'other', cniDirectory: '/etc/cni/other' }]);
  expect([...text.matchAll(/cni_conf_dir = "(.*)"/g)].map(([, directory]) => directory)).toEqual([
    MAIN_CNI_DIRECTORY,
    '/etc/cni/other',
  ]);
  expect(text).toContain(`sandbox = "${SANDBOX_IMAGE}"`);
  expect(text).toContain('restrict_oom_score_adj = true');
});

test('the pods of a node are below its cgroup, and a kubelet leaves its machine alone', () => {
  expect(kubeletConfig({ cgroup: '/run/n1' })).toMatchObject({ cgroupRoot: '/run/n1', cgroupDriver: 'cgroupfs' });
  expect(Object.keys(KUBELET_SYSCTLS)).toContain('vm/overcommit_memory');
});

test('the networks are lists of one plugin, with ipledger as the IPAM plugin', () => {
  const { plugins } = JSON.parse(UNDERLAY_BY_IPLEDGER);
  expect(plugins).toEqual([expect.objectContaining({ type: 'macvlan', ipam: { type: 'ipledger' } })]);
  const [{ delegates }] = JSON.parse(TWO_NICS_BY_IPLEDGER).plugins;
  expect(delegates.map(({ name }: { name: string }) => name)).toEqual(['underlay', 'storage']);
});

test('host-local has a range of its own on each node', () => {
  const rangeOf = (node: number) => JSON.parse(underlayByHostLocal(node)).plugins[0].ipam.ranges[0][0].rangeStart;
  expect(rangeOf(1)).not.toBe(rangeOf(2));
});
