import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { podReleaseDecision } from '#agent/cluster/pod-release-decision.ts';
import type { ConflictReleaseOptions } from '#agent/release/conflict-release.ts';
import { buildServer } from '#agent/serve/server.ts';
import type { NodePod } from '#agent/sources/pods.ts';
import { PATHS } from '#pkg/agentapi/wire.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { MemoryPods } from '#test/support/memory-pods.ts';
import { callSocket } from '#test/support/socket-call.ts';

const V4 = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const ON = { enableStatefulSet: true, enableKubevirtStaticIP: true };
const OFF = { enableStatefulSet: false, enableKubevirtStaticIP: false };
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };

let sockets = 0;

/** The agent of a cluster behind its socket, and the request by which Spiderpool's plugins report a conflict. */
async function serve(wish: ConflictReleaseOptions & { readonly pool?: typeof V4; readonly ledger?: Ledger } = {}) {
  const { pool = V4, ledger = createMemoryLedger(), ...options } = wish;
  const pods = new MemoryPods();
  const decideRelease = podReleaseDecision(pods, options.sticky ?? ON);
  const made = await startMemoryClusterAgent([pool], { ledger, pods, decideRelease });
  const server = buildServer(made.agent, pino({ level: 'silent' }), options);
  sockets += 1;
  const path = join(tmpdir(), `ipledger-conflict-${process.pid}-${sockets}.sock`);
  await server.listen(path);
  return {
    ...made,
    releaseAll: ({ namespace, name, uid }: NodePod, containerID: string, more: object = {}) => {
      const who = { containerID, podNamespace: namespace, podName: name, podUID: uid };
      return callSocket(path, { method: 'DELETE', path: PATHS.ips, body: JSON.stringify({ ...who, ...more }) });
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

test.each([{}, { isReleaseConflictIPs: true }])(
  'all addresses of a sandbox in conflict are given back while its pod lives, and no other: %j',
  async (more) => {
    await using made = await serve();
    const [pod, other] = [made.pods.put('web'), made.pods.put('other')];
    const first = await made.add(pod, 'c1');
    await made.add(pod, 'c1', { ifName: 'net1' });
    await made.add(other, 'c2');
    expect(await made.releaseAll(pod, 'c1', more)).toEqual({ status: 200, text: '' });
    expect((await made.records()).map(({ spec }) => spec.holder.name)).toEqual(['other']);
    await made.del(pod, 'c1');
    expect(await made.add(pod, 'c3')).not.toEqual(first);
  },
);

test('in a pool with a cooldown the address becomes Cooling', async () => {
  await using made = await serve({ pool: { ...V4, reuseCooldownSeconds: 60 } });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  expect((await made.releaseAll(pod, 'c1')).status).toBe(200);
  expect(await made.records()).toMatchObject([{ spec: { state: 'Cooling' } }]);
});

test.each([{}, { isReleaseConflictIPs: true }])(
  "a living sticky pod keeps its own address, is told so, and still has it during its pod's grace: %j",
  async (more) => {
    await using made = await serve();
    const pod = made.pods.put('db-0', { controller: SET });
    await made.add(pod, 'c1');
    const before = await made.records();
    const { status, text } = await made.releaseAll(pod, 'c1', more);
    expect([status, text]).toEqual([522, expect.stringContaining('prod/db-0, which keeps its addresses')]);
    made.pods.end(pod); // its containers run on during the grace period
    await made.endsHandled();
    expect(await made.records()).toEqual(before);
    await made.del(pod, 'c1');
    expect(await made.records()).toMatchObject([{ spec: { state: 'Retained' } }]);
  },
);

test('a StatefulSet pod is not sticky where the setting is off', async () => {
  await using made = await serve({ sticky: OFF });
  const pod = made.pods.put('db-0', { controller: SET });
  await made.add(pod, 'c1');
  expect((await made.releaseAll(pod, 'c1', { isReleaseConflictIPs: true })).status).toBe(200);
  expect(await made.records()).toEqual([]);
});

test('a sandbox that an ADD works on is released after the ADD, not in the middle of it', async () => {
  const below = createMemoryLedger();
  const reading = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const done: string[] = [];
  const ledger = ledgerWith(below, {
    get: async (name) => {
      reading.resolve();
      await goesOn.promise;
      await sleep(20);
      done.push('confirmed');
      return await below.get(name);
    },
    release: async (seen) => {
      done.push('released');
      return await below.release(seen);
    },
  });
  await using made = await serve({ ledger });
  const pod = made.pods.put('web');
  const first = await made.add(pod, 'c1');
  const again = made.add(pod, 'c1');
  await reading.promise;
  const releasing = made.releaseAll(pod, 'c1');
  await sleep(50);
  goesOn.resolve();
  expect([(await releasing).status, await again]).toEqual([200, first]);
  expect(done).toEqual(['confirmed', 'released']);
  expect(await below.list({ limit: 9 })).toEqual([]);
});

test('a record that was changed by another writer is not released', async () => {
  await using made = await serve();
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  const [record] = await made.records();
  if (record === undefined) throw new Error('the record of web is missing');
  await made.ledger.amend(record, { ...record.spec, state: 'Suspect' });
  expect((await made.releaseAll(pod, 'c1')).status).toBe(200);
  expect(await made.records()).toMatchObject([{ name: record.name, spec: { state: 'Suspect' } }]);
});
