import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };
const ROUTE = { dst: '172.16.0.0/12', gw: '10.0.0.1' };
const annotations = { 'ipam.spidernet.io/routes': JSON.stringify([ROUTE]) };

async function carriers({ records }: MemoryClusterAgent): Promise<Record<string, unknown>> {
  return Object.fromEntries((await records()).map(({ spec }) => [spec.holder.interface, spec.routes ?? []]));
}

test('of two interfaces of one pool one carries the route of the pod, also after both were taken over', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const first = made.pods.put('db-0', { uid: 'first', controller: SET, annotations });
  await made.add(first, 'c1');
  await made.add(first, 'c1', { ifName: 'net1' });
  expect(await carriers(made)).toEqual({ eth0: [ROUTE], net1: [] });
  made.pods.end(first);
  await made.del(first, 'c1');
  await made.del(first, 'c1', { ifName: 'net1' });
  const second = made.pods.put('db-0', { uid: 'second', controller: SET, annotations });
  await made.add(second, 'c2');
  await made.add(second, 'c2', { ifName: 'net1' });
  expect(await carriers(made)).toEqual({ eth0: [ROUTE], net1: [] });
  expect((await made.records()).map(({ spec }) => spec.holder.uid)).toEqual(['second', 'second']);
});

test('routes of pool and pod that are too many for one address are refused in the words of whoever wrote them', async () => {
  const routes = Array.from({ length: 1_000 }, (_, at) => ({
    dst: `172.${16 + (at >> 8)}.${at & 255}.0/24`,
    gw: '10.0.0.1',
  }));
  await using made = await startMemoryClusterAgent([{ ...POOL, routes }]);
  await made.add(made.pods.put('plain'), 'c1');
  await expect(made.add(made.pods.put('more', { annotations }), 'c2')).rejects.toMatchObject({
    reason: 'bad-annotation',
    message:
      'pool v4 has 1000 routes, and annotation ipam.spidernet.io/routes of the pod adds 1: one address has at most 1000',
  });
  expect(await made.records()).toHaveLength(1);
});
