import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { runProgram } from '#test/support/run-program.ts';

const POOLS = { 'p.yaml': poolYaml('small', { subnet: '10.24.0.0/24', ips: ['10.24.0.10-10.24.0.13'] }) };

async function runAgent(...args: readonly string[]) {
  return await runProgram(await builtPath('ipledger-agent'), args, { env: launchEnvironment(), timeoutMs: 15_000 });
}

test.each([
  { name: 'no mode', args: [], says: '--standalone' },
  { name: 'unknown flag', args: ['--standalon'], says: 'Did you mean --standalone' },
  { name: 'bad seconds', args: ['--standalone', '--exhausted-wait', 'soon'], says: 'number of seconds' },
  {
    name: 'a flag of a host in a cluster',
    args: ['--kubeconfig', 'x', '--detect-conflicts'],
    says: '--detect-conflicts is for --standalone; in a cluster see conf.yml',
  },
  {
    name: 'a flag of a cluster on a host',
    args: ['--standalone', '--config', 'conf.yml'],
    says: '--config is for a cluster, not for --standalone',
  },
  { name: 'bad level', args: ['--standalone', '--log-level', 'loud'], says: 'Allowed choices are debug' },
])('the agent refuses to start, and says why: $name', async ({ args, says }) => {
  const { code, stderr } = await runAgent(...args);
  expect(code).toBe(1);
  expect(stderr).toContain(says);
});

test('--help names every flag with its default', async () => {
  const { code, stdout } = await runAgent('--help');
  expect(code).toBe(0);
  for (const flag of [
    '--config',
    '--kubeconfig',
    '--standalone',
    '--pools',
    '--data',
    '--socket',
    '--spool',
    '--node',
    '--exhausted-wait',
    '--collect-after',
  ]) {
    expect(stdout).toContain(flag);
  }
});

test('a second agent on the same data directory, or on the same socket, is refused and harms nothing', async () => {
  await using agent = await startAgent({ pools: POOLS });
  const flags = ['--standalone', '--pools', agent.poolsDirectory, '--spool', agent.spoolDirectory];
  const sameData = await runAgent(...flags, '--data', agent.dataDirectory, '--socket', `${agent.socket}2`);
  expect([sameData.code, sameData.stdout]).toEqual([1, expect.stringContaining('another ipledger-agent')]);
  const sameSocket = await runAgent(...flags, '--data', `${agent.dataDirectory}2`, '--socket', agent.socket);
  expect([sameSocket.code, sameSocket.stdout]).toEqual([1, expect.stringContaining('another ipledger-agent')]);
  expect((await callPlugin(agent, 'ADD', 'c1')).code).toBe(0);
});

test('a damaged ledger file stops the agent with a message that names it', async () => {
  await using agent = await startAgent({ pools: POOLS });
  await agent.stop();
  await writeFile(join(agent.dataDirectory, 'ledger.db'), 'this is no database, and never was one'.repeat(200));
  await expect(agent.restart()).rejects.toThrow(/ledger\.db/);
});

test('SIGTERM ends the agent with 0, and a stale socket of a killed one is taken over', async () => {
  await using agent = await startAgent({ pools: POOLS });
  await agent.kill();
  await agent.restart();
  expect((await callPlugin(agent, 'ADD', 'c1')).code).toBe(0);
  expect(await agent.stop()).toBe(0);
});

test('a pool added while the agent runs is used at once; a broken change keeps the old state and shows in pools', async () => {
  await using agent = await startAgent({ pools: POOLS });
  await agent.writePool(
    'more.yaml',
    poolYaml('more', { subnet: '10.25.0.0/24', ips: ['10.25.0.10'], isDefault: false }),
  );
  const config = {
    cniVersion: '1.0.0',
    name: 'lab',
    type: 't',
    ipam: { type: 'ipledger', default_ipv4_ippool: ['more'] },
  };
  await expect.poll(async () => (await callPlugin(agent, 'ADD', 'c1', { config })).code, { timeout: 10_000 }).toBe(0);
  await agent.writePool(
    'more.yaml',
    poolYaml('more', { subnet: '10.25.0.0/24', ips: ['10.25.0.9-10.25.0.1'], isDefault: false }),
  );
  await expect.poll(async () => (await agent.ctl('pools')).stdout, { timeout: 10_000 }).toContain('more.yaml:8');
  expect((await agent.ctl('pools')).stdout).toContain('10.25.0.0/24');
});

test('log and socket paths in the network configuration are never opened', async () => {
  await using agent = await startAgent({ pools: POOLS });
  const trap = join(agent.dataDirectory, 'trap.log');
  const ipam = { type: 'ipledger', log_file_path: trap, ipam_unix_socket_path: '/nowhere.sock', log_level: 'debug' };
  const answer = await callPlugin(agent, 'ADD', 'c1', {
    config: { cniVersion: '1.0.0', name: 'lab', type: 't', ipam },
  });
  expect(answer.code).toBe(0);
  const { code } = await runProgram('test', ['-e', trap]);
  expect(code).toBe(1);
  expect(agent.log).toContain('log_file_path');
  expect(agent.log).toContain('ipam_unix_socket_path');
});
