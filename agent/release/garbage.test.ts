import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { newCall } from '#test/support/memory-agent.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });

/** The pod web with the sandbox c1, on a clock that can be turned on, and a runtime that forgets the sandbox. */
async function startWeb() {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-netns-'));
  const netNamespace = join(directory, 'c1');
  await writeFile(netNamespace, '');
  let laterMs = 0;
  const made = await startMemoryClusterAgent([POOL], { nowMs: () => performance.now() + laterMs });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1', { netNamespace });
  return {
    made,
    pod,
    leave: () => rm(netNamespace),
    wait: (ms: number) => {
      laterMs += ms;
    },
    gc: () => {
      laterMs += 1;
      const call = { ...newCall(), begunAtMs: performance.now() + laterMs };
      return made.agent.gc({ network: 'lab', validAttachments: [] }, call);
    },
    end: async () => {
      made.pods.end(pod);
      await made.endsHandled();
    },
    [Symbol.asyncDispose]: async () => {
      await made[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

test("a GC that does not know a living pod's sandbox yet does not make its address leave during the pod's grace", async () => {
  await using web = await startWeb();
  expect(await web.gc()).toBe(0);
  await web.end(); // its containers run on for their grace
  expect(await web.made.records()).toHaveLength(1);
  await web.made.del(web.pod, 'c1');
  expect(await web.made.records()).toEqual([]);
});

test('a sandbox of a living pod that GC gave up and that is seen to be gone is released when the pod ends', async () => {
  await using web = await startWeb();
  await web.leave();
  expect(await web.gc()).toBe(0);
  expect(await web.made.records()).toHaveLength(1);
  await web.end();
  expect(await web.made.records()).toEqual([]);
});

test('a sandbox that GC could not prove to be gone is collected later without a DEL', async () => {
  await using web = await startWeb();
  await web.gc();
  await web.end();
  await web.leave();
  await web.made.collector.collect(false);
  expect(await web.made.records()).toHaveLength(1);
  web.wait(60_000);
  await web.made.collector.collect(false);
  expect(await web.made.records()).toEqual([]);
});

test('of a pod that is gone GC frees only what is seen to be gone', async () => {
  await using web = await startWeb();
  await web.end();
  expect(await web.gc()).toBe(0);
  await web.leave();
  expect(await web.gc()).toBe(1);
  expect(await web.made.records()).toEqual([]);
});
