import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { addressesIn, callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const POOLS = { 'p.yaml': poolYaml('small', { subnet: '10.21.0.0/24', ips: ['10.21.0.10-10.21.0.13'] }) };
/** Longer than the agent's pause between two looks into the spool. */
const TWO_DRAINS_MS = 5_000;

async function recordCount(agent: Awaited<ReturnType<typeof startAgent>>): Promise<number> {
  const { stdout } = await agent.ctl('list', '-o', 'json');
  return (JSON.parse(stdout) as { records: unknown[] }).records.length;
}

/** Concurrent, because each test has its own agent, and mostly waits. */
describe.concurrent('the plugin and an agent that comes and goes:', () => {
  test('a DEL while the agent is away succeeds, is spooled, and is applied before the agent serves again', async () => {
    await using agent = await startAgent({ pools: POOLS });
    await callPlugin(agent, 'ADD', 'c1');
    await agent.stop();
    expect(await callPlugin(agent, 'DEL', 'c1')).toEqual({ code: 0, document: null });
    expect(await readdir(agent.spoolDirectory)).toEqual(['c1@eth0.json']);
    await agent.restart();
    expect(await recordCount(agent)).toBe(0);
    expect(await readdir(agent.spoolDirectory)).toEqual([]);
  });

  test('stop, spooled DEL, restart, re-ADD of the same container: the live record is never freed', async () => {
    await using agent = await startAgent({ pools: POOLS });
    await callPlugin(agent, 'ADD', 'c1');
    await agent.stop();
    await callPlugin(agent, 'DEL', 'c1');
    await agent.restart();
    const readded = addressesIn(await callPlugin(agent, 'ADD', 'c1'));
    expect(readded).toHaveLength(1);
    await sleep(TWO_DRAINS_MS);
    expect(await recordCount(agent)).toBe(1);
    expect(addressesIn(await callPlugin(agent, 'ADD', 'c1'))).toEqual(readded);
  });

  test('an ADD waits for an agent that restarts', async () => {
    await using agent = await startAgent({ pools: POOLS });
    await agent.stop();
    const adding = callPlugin(agent, 'ADD', 'c1');
    await sleep(1_500);
    await agent.restart();
    expect(addressesIn(await adding)).toHaveLength(1);
  });

  test('while the agent is away, ADD fails with 11 and STATUS with 50, each with a clear message', async () => {
    await using agent = await startAgent({ pools: POOLS });
    await agent.stop();
    const [added, status] = await Promise.all([callPlugin(agent, 'ADD', 'c1'), callPlugin(agent, 'STATUS', '')]);
    expect(added).toMatchObject({ code: 1, document: { code: 11, msg: expect.stringContaining('agent') as string } });
    expect(status).toMatchObject({ code: 1, document: { code: 50 } });
  });
});
