import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { runCni } from '#test/support/cni.ts';
import { makeNetns, type Netns } from '#test/support/netns.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const POOLS = {
  'p.yaml': poolYaml('lan', { subnet: '10.26.0.0/24', ips: ['10.26.0.10-10.26.0.32'], gateway: '10.26.0.1' }),
};
const SQUATTED = ['10.26.0.10', '10.26.0.11', '10.26.0.12'];
const CONFIG = {
  cniVersion: '1.0.0',
  name: 'lan',
  type: 'macvlan',
  master: 'uplink',
  mode: 'bridge',
  ipam: { type: 'ipledger' },
};

interface Result {
  readonly ips?: readonly { readonly address: string }[];
  readonly code?: number;
  readonly msg?: string;
}

/** A network card (one end of a pair) on a switch where a foreign host already uses the first addresses of the pool. */
async function makeLan(host: Netns, stranger: Netns, addresses: readonly string[]): Promise<void> {
  await host.must('ip', 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', stranger.name);
  await host.must('ip', 'link', 'set', 'uplink', 'up');
  await stranger.must('ip', 'link', 'set', 'eth0', 'up');
  for (const address of addresses) await stranger.must('ip', 'address', 'add', `${address}/24`, 'dev', 'eth0');
}

test('a pool whose lowest addresses foreign hosts use: 20 containers in a row start, the squatters are quarantined as they are met', async () => {
  await using agent = await startAgent({ pools: POOLS, flags: ['--detect-conflicts'] });
  await using host = await makeNetns();
  await using stranger = await makeNetns();
  await makeLan(host, stranger, SQUATTED);
  const given: string[] = [];
  await using containers = new AsyncDisposableStack();
  for (let at = 0; at < 20; at += 1) {
    const container = containers.use(await makeNetns());
    const call = {
      verb: 'ADD',
      plugin: 'macvlan',
      host,
      env: agent.env,
      containerId: `c${at}`,
      netns: container.path,
      ifName: 'eth0',
      config: CONFIG,
    } as const;
    const { code, result } = await runCni(call);
    expect({ code, result }).toMatchObject({ code: 0 });
    given.push(...((result as Result).ips ?? []).map((ip) => ip.address.replace('/24', '')));
  }
  expect(new Set(given).size).toBe(20);
  expect(given.filter((address) => SQUATTED.includes(address))).toEqual([]);
  const { stdout } = await agent.ctl('conflicts', '-o', 'json');
  const { records } = JSON.parse(stdout) as { records: { spec: { address: string; holder: { name: string } } }[] };
  const [link] = JSON.parse(await stranger.must('ip', '-json', 'link', 'show', 'eth0')) as { address: string }[];
  // Twenty containers and three squatters use all addresses, so every squatter was found.
  expect(records.map(({ spec }) => spec.address)).toEqual(SQUATTED);
  for (const { spec } of records) {
    expect(spec.holder.name).toBe(link?.address);
  }
});

test('a squatted address that is asked for is refused with the MAC, and can be tried again after its release', async () => {
  await using agent = await startAgent({ pools: POOLS, flags: ['--detect-conflicts'] });
  await using host = await makeNetns();
  await using stranger = await makeNetns();
  await using container = await makeNetns();
  await makeLan(host, stranger, SQUATTED);
  const common = {
    plugin: 'macvlan',
    host,
    env: agent.env,
    containerId: 'c1',
    netns: container.path,
    ifName: 'eth0',
    config: CONFIG,
    args: 'IgnoreUnknown=1;IP=10.26.0.10',
  } as const;
  const refused = await runCni({ verb: 'ADD', ...common });
  expect(refused.result).toMatchObject({ code: 103, msg: expect.stringContaining('foreign host') as string });
  await runCni({ verb: 'DEL', ...common });
  expect((await agent.ctl('conflicts')).stdout).toContain('10.26.0.10');
  await stranger.must('ip', 'address', 'del', '10.26.0.10/24', 'dev', 'eth0');
  expect((await agent.ctl('release', '10.26.0.10', '--yes')).code).toBe(0);
  const added = await runCni({ verb: 'ADD', ...common });
  expect(added).toMatchObject({ code: 0, result: { ips: [{ address: '10.26.0.10/24' }] } });
});

test('a gateway that does not answer fails the ADD and gives the address back; with it there, the ADD succeeds', async () => {
  await using agent = await startAgent({ pools: POOLS, flags: ['--detect-gateway'] });
  await using host = await makeNetns();
  await using stranger = await makeNetns();
  await using container = await makeNetns();
  await makeLan(host, stranger, []);
  const common = {
    plugin: 'macvlan',
    host,
    env: agent.env,
    containerId: 'c1',
    netns: container.path,
    ifName: 'eth0',
    config: CONFIG,
  } as const;
  const refused = await runCni({ verb: 'ADD', ...common });
  expect(refused.result).toMatchObject({ code: 101, msg: expect.stringContaining('10.26.0.1') as string });
  await runCni({ verb: 'DEL', ...common });
  expect((await agent.ctl('list')).stdout).toBe('No records.\n');
  await stranger.must('ip', 'address', 'add', '10.26.0.1/24', 'dev', 'eth0');
  expect(await runCni({ verb: 'ADD', ...common })).toMatchObject({ code: 0 });
});
