import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const PLAIN = poolYaml('plain', { subnet: '10.28.0.0/24', ips: ['10.28.0.10-10.28.0.13'] });
const WATCHFUL = PLAIN.replace('spec:', '  annotations: { ipledger.io/detect-ip-conflict: "true" }\nspec:');

const without = (capability: string) => ['setpriv', '--bounding-set', `-${capability}`];

test.each([
  { capability: 'net_raw', flag: '--detect-conflicts', says: /CAP_NET_RAW \(to send and receive ARP and NDP\)/ },
  {
    capability: 'sys_admin',
    flag: '--detect-gateway',
    says: /CAP_SYS_ADMIN \(to enter the network namespace of a pod\)/,
  },
])('an agent without $capability does not start with $flag, and says what it lacks', async (row) => {
  const starting = startAgent({ pools: { 'p.yaml': PLAIN }, flags: [row.flag], under: without(row.capability) });
  await expect(starting).rejects.toThrow(row.says);
});

test('without detection the agent starts and serves, except for a pool that asks for detection', async () => {
  await using agent = await startAgent({ pools: { 'p.yaml': PLAIN }, under: without('net_raw') });
  expect(agent.log).toContain('CAP_NET_RAW');
  expect((await callPlugin(agent, 'ADD', 'c1')).code).toBe(0);
  await agent.writePool('p.yaml', WATCHFUL);
  // A new container each time: one that was served before the change keeps what it has.
  let last = '';
  const addOneMore = async () => {
    last = `d${Number(last.slice(1)) + 1}`;
    const { document } = await callPlugin(agent, 'ADD', last);
    if (document?.ips !== undefined) await callPlugin(agent, 'DEL', last);
    return document?.msg;
  };
  await expect.poll(addOneMore, { timeout: 20_000, interval: 200 }).toContain('this agent may not probe');
  expect((await agent.ctl('list')).stdout).not.toContain(last);
});
