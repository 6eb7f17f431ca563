import { expect, test } from 'vitest';
import { V4 } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

const OLD = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: false });
const NEW = buildPool({ name: 'other', subnet: '10.9.0.0/24', isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };
const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };

test.each([
  { name: 'a pod', pod: 'web', controller: null, owned: {} },
  { name: 'a StatefulSet pod', pod: 'db-0', controller: SET, owned: { owner: OWNER } },
])(
  '$name whose record names no network keeps its address when its sandbox restarts after the default pool changed',
  async ({ pod: name, controller, owned }) => {
    await using made = await startMemoryClusterAgent([OLD, NEW]);
    const pod = made.pods.put(name, { controller });
    const who = { kind: 'Pod', namespace: 'prod', name, uid: pod.uid, node: 'worker-1', ...owned } as const;
    const { spec } = buildRecord({ address: '10.0.0.10', holder: who });
    const { containerID: _c, netns: _n, network: _w, ...holder } = spec.holder;
    await made.ledger.create({ ...spec, holder });
    await made.refresh();
    expect(await made.add(pod, 'c2')).toEqual(['10.0.0.10']);
    expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c2', network: 'lab' } } }]);
  },
);

test.each([
  { name: "from Spiderpool's plugin to ours", first: undefined, next: 'lab' },
  { name: "from ours to Spiderpool's", first: 'lab', next: undefined },
])('a container whose caller changes $name keeps its address', async ({ first, next }) => {
  await using made = await startMemoryAgent([V4]);
  const add = async (network: string | undefined) => {
    const { network: _, ...args } = addArgs('c1');
    const { ips } = await made.agent.add(network === undefined ? args : { ...args, network }, newCall());
    return ips.map(({ address }) => address);
  };
  const before = await add(first);
  made.catalog.change([{ ...V4, isDefault: false }, NEW]);
  expect(await add(next)).toEqual(before);
});
