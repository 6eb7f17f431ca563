import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FailpointName } from '#agent/calls/failpoint.ts';
import { makeTemporaryDirectory } from '#test/contract/temporary-directory.ts';
import { copyImage } from '#test/support/image-copy.ts';
import { addressesIn, inParallel } from '#test/support/plugin-call.ts';
import { installAsShipped } from '#test/support/shipped-installer.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { startClusterAgentProcess } from './cluster-agent-process.ts';
import { type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';
import { callPluginFor, containerOf } from './pod-plugin.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.250'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

describe('an agent that crashes during an ADD', () => {
  test.each<{ step: FailpointName; records: number }>([
    { step: 'add-received', records: 0 },
    { step: 'address-chosen', records: 0 },
    { step: 'record-created', records: 1 },
    { step: 'spool-consumed', records: 1 },
    { step: 'answer-ready', records: 1 },
  ])('at $step: the next sandbox gets the same address, and its DEL leaves nothing', async ({ step, records }) => {
    const pod = await cluster.createPod({ name: `dies-at-${step}` });
    let isArmed = true;
    await using dying = await startAgentOf(cluster, {
      failpoint: (reached) => {
        if (!isArmed || reached !== step) return;
        isArmed = false;
        throw new Error('as if the power had gone');
      },
    });
    expect((await dying.tryAdd(pod, { containerID: 'c1' })).status).toBe(500);
    await dying.stop();
    const left = await cluster.records();
    expect(left).toHaveLength(records);
    await using agent = await startAgentOf(cluster, { directory: dying.directory });
    const addresses = await agent.addressesOf(pod, { containerID: 'c2' });
    const after = await cluster.records();
    expect(after.map(({ spec }) => [spec.address, spec.holder.containerID])).toEqual([[addresses[0], 'c2']]);
    if (records === 1) expect(after[0]?.uid).toBe(left[0]?.uid);
    await cluster.deletePod(pod);
    await vi.waitUntil(async () => {
      await agent.del(pod, { containerID: 'c2' });
      return (await cluster.records()).length === 0;
    }, 20_000);
  });
});

describe('the built agent', () => {
  test('killed between the create and its answer: the retry of the plugin gets the same address', async () => {
    await using proxy = await startTcpProxy(cluster.ledger.port);
    await using agent = await startClusterAgentProcess(cluster, proxy.port);
    const [warm, pod] = [await cluster.createPod({ name: 'warm' }), await cluster.createPod({ name: 'killed' })];
    expect(addressesIn(await callPluginFor(agent, 'ADD', warm))).toHaveLength(1);
    proxy.hold('answers');
    const dying = callPluginFor(agent, 'ADD', pod);
    const created = await vi.waitUntil(
      async () => (await cluster.records()).find(({ spec }) => spec.holder.uid === pod.uid),
      { timeout: 30_000, interval: 50 },
    );
    await agent.kill();
    expect((await dying).document?.code).toBe(11);
    proxy.cut();
    proxy.release();
    await agent.start();
    const again = await callPluginFor(agent, 'ADD', pod, { containerID: containerOf(pod, 'b') });
    expect(addressesIn(again)).toEqual([`${created.spec.address}/24`]);
    expect((await cluster.records()).filter(({ spec }) => spec.holder.uid === pod.uid)).toMatchObject([
      { uid: created.uid, spec: { holder: { containerID: containerOf(pod, 'b') } } },
    ]);
  });

  test('restarted twice during a burst: no ADD of the plugin fails, and no address is given twice', async () => {
    await using agent = await startClusterAgentProcess(cluster, cluster.ledger.port);
    const pods = await Promise.all(Array.from({ length: 40 }, (_, at) => cluster.createPod({ name: `burst-${at}` })));
    const given: string[] = [];
    const failed: unknown[] = [];
    const burst = inParallel(pods, 4, async (pod) => {
      const answer = await callPluginFor(agent, 'ADD', pod);
      if (answer.code === 0) given.push(...addressesIn(answer));
      else failed.push(answer.document);
    });
    for (const enough of [8, 20]) {
      await vi.waitUntil(() => given.length + failed.length >= enough, { timeout: 120_000, interval: 20 });
      expect(await agent.stop()).toBe(0);
      await agent.start();
    }
    await burst;
    expect(failed).toEqual([]);
    expect(new Set(given).size).toBe(40);
    expect((await cluster.records()).map(({ spec }) => `${spec.address}/24`).sort()).toEqual(given.toSorted());
  });

  test('upgraded during a burst, and the plugin with it: no ADD fails, no address is given twice, one record each', async () => {
    await using before = await copyImage('before');
    await using after = await copyImage('after');
    using host = makeTemporaryDirectory();
    await installAsShipped(before, host.path);
    const program = join(host.path, 'opt/cni/bin/ipledger');
    await using agent = await startClusterAgentProcess(cluster, cluster.ledger.port, { program: before.agent });
    const given = new Map<string, string[]>();
    const failed: unknown[] = [];
    let asked = 0;
    const addOne = async () => {
      const pod = await cluster.createPod({ name: `upgrade-${asked++}` });
      const call = callPluginFor(agent, 'ADD', pod, { program });
      const answer = await call.catch((thrown: unknown) => ({ code: null, document: { msg: String(thrown) } }));
      if (answer.code === 0) given.set(pod.uid, addressesIn(answer));
      else failed.push(answer.document);
    };
    const burst = () => inParallel(Array(12), 4, addOne);
    // As in the DaemonSet: the old agent ends, the plugin is replaced, the new agent starts.
    const bursts = [burst()];
    await vi.waitUntil(() => given.size + failed.length >= 4, { timeout: 120_000, interval: 20 });
    const stopping = agent.stop();
    bursts.push(burst());
    expect(await stopping).toBe(0);
    let isInstalled = false;
    const installing = installAsShipped(after, host.path).finally(() => {
      isInstalled = true;
    });
    for (let more = 0; !isInstalled && more < 60; more++) {
      bursts.push(addOne());
      await sleep(20);
    }
    expect((await installing).map(({ outcome }) => outcome)).toEqual(['installed', 'installed']);
    await agent.start(after.agent);
    bursts.push(burst());
    await Promise.all(bursts);
    expect(failed).toEqual([]);
    expect(await readFile(`/proc/${agent.pid}/cmdline`, 'utf8')).toContain(after.root);
    expect((await readFile(program)).equals(await readFile(after.plugin))).toBe(true);
    const held = (await cluster.records()).map(({ spec }) => [spec.holder.uid ?? '', [`${spec.address}/24`]] as const);
    expect(held).toHaveLength(asked);
    expect(new Map(held)).toEqual(given);
    expect(new Set([...given.values()].flat()).size).toBe(asked);
  });
});
