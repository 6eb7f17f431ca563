import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const POOLS = { 'p.yaml': poolYaml('small', { subnet: '10.27.0.0/24', ips: ['10.27.0.10-10.27.0.13'] }) };

/** Callers that connect, as a plugin does before it has read its stdin, and never send a byte. */
async function callInSilence(path: string, count: number) {
  const lines = await Promise.all(Array.from({ length: count }, () => connectTo(path)));
  return { lines, [Symbol.dispose]: () => lines.forEach((line) => void line.destroy()) };
}

/** The backlog of the socket is shorter than the number of callers, so a caller that finds it full tries again. */
async function connectTo(path: string): Promise<Socket> {
  for (;;) {
    const line = connect(path).on('error', () => {});
    const isConnected = await new Promise((resolve) => {
      line.once('connect', () => resolve(true)).once('close', () => resolve(false));
    });
    if (isConnected) return line;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a thousand silent callers delay no other call, and do not keep the agent from stopping', async () => {
  await using agent = await startAgent({ pools: POOLS });
  using crowd = await callInSilence(agent.socket, 1_000);
  for (const verb of ['STATUS', 'ADD', 'DEL', 'ADD'] as const) {
    expect([verb, (await callPlugin(agent, verb, 'c1')).code]).toEqual([verb, 0]);
  }
  expect(crowd.lines.filter((line) => line.destroyed)).toEqual([]);
  expect(await agent.stop()).toBe(0);
  await agent.restart();
  expect((await callPlugin(agent, 'DEL', 'c1')).code).toBe(0);
});
