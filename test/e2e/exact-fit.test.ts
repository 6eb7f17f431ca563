import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type AgentProcess, startAgent } from '#test/support/agent-process.ts';
import { addressesIn, callPlugin, inParallel } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const THOUSAND = poolYaml('exact', { subnet: '10.20.0.0/22', ips: ['10.20.0.10-10.20.3.241'] });
const CONTAINERS = Array.from({ length: 1_000 }, (_, at) => `c${at}`);

async function listRecords(agent: AgentProcess): Promise<IpRecord[]> {
  const { code, stdout, stderr } = await agent.ctl('list', '-o', 'json');
  if (code !== 0) throw new Error(`ipledgerctl list ended with ${code}: ${stderr}`);
  return (JSON.parse(stdout) as { records: IpRecord[] }).records;
}

test('1,000 ADDs at concurrency 50 on exactly 1,000 addresses, one more, and 1,000 DELs', {
  timeout: 400_000,
}, async () => {
  await using agent = await startAgent({ pools: { 'exact.yaml': THOUSAND }, flags: ['--exhausted-wait', '1'] });
  const given = new Map<string, string>();
  await inParallel(CONTAINERS, 50, async (containerID) => {
    const answer = await callPlugin(agent, 'ADD', containerID);
    expect(answer).toMatchObject({ code: 0 });
    for (const address of addressesIn(answer)) given.set(containerID, address);
  });
  expect(new Set(given.values()).size).toBe(1_000);

  const tooMany = await callPlugin(agent, 'ADD', 'one-too-many');
  expect(tooMany.code).toBe(1);
  expect(tooMany.document).toMatchObject({ code: 11, msg: expect.stringContaining('exact 1000/1000 used') as string });

  const records = await listRecords(agent);
  expect(new Map(records.map(({ spec }) => [spec.holder.containerID, `${spec.address}/22`]))).toEqual(given);
  await inParallel(CONTAINERS, 50, async (containerID) => {
    expect(await callPlugin(agent, 'DEL', containerID)).toEqual({ code: 0, document: null });
  });
  expect(await listRecords(agent)).toEqual([]);
});

test('five kills of the agent in the middle: the runtime retries and deletes, no duplicate and no leak', {
  timeout: 600_000,
}, async () => {
  await using agent = await startAgent({ pools: { 'exact.yaml': THOUSAND }, flags: ['--exhausted-wait', '1'] });
  const live = new Map<string, string>();
  let isOver = false;
  const killing = killFiveTimes(agent).finally(() => {
    isOver = true;
  });
  const workers = Array.from({ length: 25 }, async (_, worker) => {
    for (let at = 0; !isOver; at += 1) {
      const containerID = `w${worker}-${at}`;
      live.set(containerID, await addAsRuntime(agent, containerID));
      // Up to 20 a worker stay, so that half of the pool is in use at every kill.
      if (at < 20) continue;
      live.delete(containerID);
      await delAsRuntime(agent, containerID);
    }
  });
  await Promise.all([killing, ...workers]);
  expect(new Set(live.values()).size).toBe(live.size);
  await expect
    .poll(
      async () =>
        new Map((await listRecords(agent)).map(({ spec }) => [spec.holder.containerID, `${spec.address}/22`])),
      {
        timeout: 20_000,
      },
    )
    .toEqual(live);
  await inParallel([...live.keys()], 25, (containerID) => delAsRuntime(agent, containerID));
  await expect.poll(() => listRecords(agent), { timeout: 20_000 }).toEqual([]);
  expect((await agent.ctl('check')).code).toBe(0);
});

/** Like a runtime after a failed ADD: DEL, then ADD of the same container again. */
async function addAsRuntime(agent: AgentProcess, containerID: string): Promise<string> {
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    const answer = await callPlugin(agent, 'ADD', containerID);
    const [address] = addressesIn(answer);
    if (answer.code === 0 && address !== undefined) return address;
    await delAsRuntime(agent, containerID);
  }
  throw new Error(`no ADD of ${containerID} succeeded in 20 attempts`);
}

async function delAsRuntime(agent: AgentProcess, containerID: string): Promise<void> {
  for (let attempt = 1; attempt <= 5; attempt += 1)
    if ((await callPlugin(agent, 'DEL', containerID)).code === 0) return;
  throw new Error(`no DEL of ${containerID} succeeded in 5 attempts`);
}

async function killFiveTimes(agent: AgentProcess): Promise<void> {
  for (let kill = 0; kill < 5; kill += 1) {
    await sleep(1_000 + 400 * kill);
    await agent.kill();
    await sleep(200 * kill);
    await agent.restart();
  }
}
