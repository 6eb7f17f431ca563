import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const POOLS = { 'p.yaml': poolYaml('small', { subnet: '10.28.0.0/24', ips: ['10.28.0.10-10.28.0.13'] }) };
/** Longer than the two seconds that STATUS once waited, and well within what it waits now. */
const AWAY_MS = 4_000;

test.each(['stop', 'kill'] as const)('a STATUS during the restart of an agent succeeds (%s)', async (end) => {
  await using agent = await startAgent({ pools: POOLS });
  await agent[end]();
  const asked = callPlugin(agent, 'STATUS', 'any');
  await sleep(AWAY_MS);
  await agent.restart();
  expect(await asked).toEqual({ code: 0, document: null });
});

test('a STATUS without an agent fails with code 50 in the end', async () => {
  await using agent = await startAgent({ pools: POOLS });
  await agent.stop();
  const { code, document } = await callPlugin(agent, 'STATUS', 'any');
  expect([code, document?.code, document?.msg]).toEqual([1, 50, expect.stringContaining('the agent is not running')]);
});
