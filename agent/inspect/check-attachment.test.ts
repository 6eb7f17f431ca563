import { expect, test } from 'vitest';
import { addressesOf, V4 } from '#test/support/agent-acts.ts';
import { delArgs, startMemoryAgent } from '#test/support/memory-agent.ts';

const CHECKED = { address: '10.0.0.10/24', gateway: '10.0.0.1' };
test.each([
  { name: 'the same', containerID: 'c1', ips: [CHECKED], problem: null },
  {
    name: 'another address',
    containerID: 'c1',
    ips: [{ address: '10.0.0.99/24' }],
    problem: 'holds 10.0.0.10/24, but prevResult shows 10.0.0.99/24',
  },
  {
    name: 'another prefix',
    containerID: 'c1',
    ips: [{ address: '10.0.0.10/16' }],
    problem: 'holds 10.0.0.10/24, but prevResult shows 10.0.0.10/16',
  },
  {
    name: 'another gateway',
    containerID: 'c1',
    ips: [{ ...CHECKED, gateway: '10.0.0.2' }],
    problem: 'gateway recorded for 10.0.0.10/24 is 10.0.0.1, but prevResult shows 10.0.0.2',
  },
  {
    name: 'one too many',
    containerID: 'c1',
    ips: [CHECKED, { address: 'fd00::1/64' }],
    problem: 'prevResult shows fd00::1/64',
  },
  {
    name: 'unknown container',
    containerID: 'c2',
    ips: [CHECKED],
    problem: 'no address is recorded for eth0 of container c2',
  },
])('CHECK: $name', async ({ containerID, ips, problem }) => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  const checking = made.agent.check({ ...delArgs(containerID), ips });
  if (problem === null) await expect(checking).resolves.toBeUndefined();
  else
    await expect(checking).rejects.toMatchObject({
      reason: 'check-failed',
      message: expect.stringContaining(problem) as string,
    });
});
