import { expect, test } from 'vitest';
import type { NetnsAtPath } from '#agent/node/netns-evidence.ts';
import type { NetnsSight } from '#agent/node/netns-look.ts';
import type { NodePod } from '#agent/sources/pods.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const HOST = { bootID: 'boot-1', machineID: 'machine-1' };
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'set-1' };

/** A node whose namespaces are what the test says. An ADD with /proc/self/ns/net records this process's own. */
async function startNode() {
  let laterMs = 0;
  let at: NetnsAtPath | 'as recorded' = 'as recorded';
  let links: readonly string[] = ['lo', 'eth0'];
  const processes = new Set<number>();
  const outliving: IpRecord[] = [];
  const requests: string[] = [];
  const below = createMemoryLedger();
  const noted =
    <Args extends unknown[], Answer>(what: string, call: (...args: Args) => Answer) =>
    (...args: Args) => {
      requests.push(what);
      return call(...args);
    };
  const ledger = ledgerWith(below, {
    create: noted('create', below.create.bind(below)),
    amend: noted('amend', below.amend.bind(below)),
    release: noted('release', below.release.bind(below)),
    get: noted('get', below.get.bind(below)),
  });
  const inodes: number[] = [];
  const sight: NetnsSight = {
    host: HOST,
    atPath: () => (at === 'as recorded' ? (inodes[0] ?? 'missing') : at),
    scanProcesses: async () => ({ inodes: processes, isComplete: true }),
    linksIn: () => links,
  };
  const nowMs = () => performance.now() + laterMs;
  const onOutliving = (record: IpRecord) => void outliving.push(record);
  const made = await startMemoryClusterAgent([POOL], { ledger, sight, nowMs, onOutliving });
  return {
    ...made,
    requests,
    outliving,
    processes,
    run: async (pod: NodePod) => {
      await made.add(pod, `c-of-${pod.name}`);
      const [record] = await made.records();
      inodes[0] = record?.spec.holder.netnsInode ?? 0;
      requests.length = 0;
    },
    inode: () => inodes[0] ?? 0,
    see: (now: NetnsAtPath | 'as recorded', itsLinks: readonly string[] = ['lo', 'eth0']) => {
      at = now;
      links = itsLinks;
    },
    /** Two looks, so far apart. */
    lookTwice: async (apartMs: number) => {
      laterMs += 1;
      await made.collector.collect(false);
      laterMs += apartMs;
      return await made.collector.collect(false);
    },
    states: async () => (await made.records()).map(({ spec }) => spec.state),
  };
}

test('an address without a DEL comes back by one write when the namespace is gone and the pod too', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  node.pods.remove(pod);
  await node.lookTwice(600_000);
  expect(await node.states()).toEqual(['Allocated']);
  node.see('missing');
  await node.lookTwice(500);
  expect(await node.states()).toEqual([]);
  expect(node.requests).toEqual(['release']);
});

test('a namespace whose path is gone stays in use while a process runs in it', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  node.pods.remove(pod);
  node.see('missing');
  node.processes.add(node.inode());
  await node.lookTwice(600_000);
  expect(await node.states()).toEqual(['Allocated']);
  node.processes.clear();
  await node.lookTwice(500);
  expect(await node.states()).toEqual([]);
});

test('a path that shows another namespace is no namespace of the record', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  node.pods.remove(pod);
  node.see(node.inode() + 1);
  await node.lookTwice(500);
  expect(await node.states()).toEqual([]);
});

test('a living pod keeps its address whatever is seen', async () => {
  await using node = await startNode();
  await node.run(node.pods.put('web'));
  node.see('missing');
  await node.lookTwice(600_000);
  expect(await node.states()).toEqual(['Allocated']);
});

test('a namespace without a link is given the time that a main plugin needs', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  node.pods.remove(pod);
  node.see('as recorded', ['lo']);
  await node.lookTwice(29_000);
  expect(await node.states()).toEqual(['Allocated']);
  await node.lookTwice(1_000);
  expect(await node.states()).toEqual([]);
});

test('an ADD that is answered after the look voids it', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  node.pods.remove(pod);
  node.see('missing');
  const [seen] = node.index.all();
  const judgedAtMs = performance.now();
  await node.add(node.pods.put('web'), 'c-of-web');
  expect(seen && (await node.releaser.releaseJudged(seen, judgedAtMs))).toBe('changed');
  expect(await node.states()).toEqual(['Allocated']);
});

test('a Suspect record of this node is released when its namespace is gone, and comes back when pod and sandbox live', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  const suspect = async () => {
    const [record] = await node.records();
    if (record === undefined) throw new Error('there is no record');
    await node.ledger.amend(record, { ...record.spec, state: 'Suspect' });
    await node.refresh();
  };
  node.see('missing');
  await suspect();
  expect(await node.states()).toEqual(['Suspect']);
  node.see('as recorded');
  await node.refresh();
  expect(await node.states()).toEqual(['Allocated']);
  await suspect();
  expect(await node.states()).toEqual(['Allocated']);
  node.pods.remove(pod);
  node.see('missing');
  await suspect();
  await node.lookTwice(500);
  expect(await node.states()).toEqual([]);
});

test('a sticky address becomes Retained, without a trace of the sandbox', async () => {
  await using node = await startNode();
  const pod = node.pods.put('db-0', { controller: SET });
  await node.run(pod);
  node.pods.remove(pod);
  node.see('missing');
  await node.lookTwice(500);
  const [record] = await node.records();
  expect(record?.spec.state).toBe('Retained');
  for (const trace of ['uid', 'containerID', 'netns', 'netnsInode', 'bootID', 'machineID'])
    expect(record?.spec.holder).not.toHaveProperty(trace);
});

test('a static pod keeps its address without its mirror, until its namespace is gone or its DEL comes', async () => {
  await using node = await startNode();
  const pod = node.pods.put('proxy', { isStatic: true });
  await node.run(pod);
  node.pods.remove(pod);
  await node.endsHandled();
  await node.lookTwice(600_000);
  expect(await node.states()).toEqual(['Allocated']);
  expect(node.outliving).toEqual([]);
  await node.del(pod, 'c-of-proxy');
  expect(await node.states()).toEqual([]);
});

test('a sandbox that outlives its pod is told once, listed while it lasts, and released by nobody', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  node.pods.remove(pod);
  await node.lookTwice(59_000);
  expect(node.outliving).toEqual([]);
  const { kept } = await node.lookTwice(2_000);
  expect(kept).toMatchObject([{ because: expect.stringContaining('is still there') }]);
  await node.lookTwice(600_000);
  expect(node.outliving).toHaveLength(1);
  expect(node.collector.outliving()).toHaveLength(1);
  const { findings } = await node.agent.inspector.check();
  expect(findings).toMatchObject([
    { kind: 'outliving-netns', message: expect.stringContaining('crictl rmp c-of-web') },
  ]);
  expect(await node.states()).toEqual(['Allocated']);
  node.see('missing');
  await node.lookTwice(500);
  expect(node.collector.outliving()).toEqual([]);
  expect(await node.states()).toEqual([]);
});

test('a pod that ends with its DEL costs one create and one delete', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.add(pod, 'c1');
  node.pods.end(pod);
  await node.collector.collectOf(pod.uid);
  await node.del(pod, 'c1');
  node.see('missing');
  expect(await node.collector.collectOf(pod.uid)).toBe(false);
  await node.lookTwice(60_000);
  expect(node.requests).toEqual(['create', 'release']);
});

test('a repeated ADD of the same sandbox requests nothing, also for a record from before inodes were stored', async () => {
  await using node = await startNode();
  const pod = node.pods.put('web');
  await node.run(pod);
  await node.add(pod, 'c-of-web');
  expect(node.requests).toEqual(['get']);
  const [record] = await node.records();
  if (record === undefined) throw new Error('there is no record');
  const { netnsInode: _inode, bootID: _bootID, machineID: _machineID, ...holder } = record.spec.holder;
  await node.ledger.amend(record, { ...record.spec, holder });
  await node.refresh();
  node.requests.length = 0;
  await node.add(pod, 'c-of-web');
  expect(node.requests).toEqual(['get']);
});
