import { setImmediate as breathe } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addressesOf } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryAgent } from '#test/support/memory-agent.ts';

const POOL = buildPool({ name: 'v4', subnet: '10.0.0.0/16', isDefault: true });
const MOST = 1_064;

test('ADDs that wait for the agent to become ready are counted: one too many is told at once, the others are served', async () => {
  await using made = await startMemoryAgent([POOL], { isReady: false });
  const refused: string[] = [];
  const add = (n: number) =>
    addressesOf(made, `c${n}`).catch(({ reason }: { reason: string }) => {
      refused.push(reason);
      return [];
    });
  const calls = Array.from({ length: MOST + 2 }, (_, n) => add(n));
  await breathe();
  expect(refused).toEqual(['agent-busy', 'agent-busy']);
  made.agent.readiness.become();
  const addresses = (await Promise.all(calls)).flat();
  expect(refused).toHaveLength(2);
  expect(new Set(addresses).size).toBe(MOST);
});
