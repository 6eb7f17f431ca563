import { expect, test } from 'vitest';
import { startAgent } from '#test/support/agent-process.ts';
import { runCni } from '#test/support/cni.ts';
import { makeNetns, type Netns } from '#test/support/netns.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const POOLS = {
  'pools.yaml': [
    poolYaml('v4', { subnet: '10.23.0.0/24', ips: ['10.23.0.10-10.23.0.20'], gateway: '10.23.0.1' }),
    poolYaml('v6', { subnet: 'fd00:23::/64', ips: ['fd00:23::10-fd00:23::20'], gateway: 'fd00:23::1' }),
  ].join('---\n'),
};

const MAIN_PLUGINS = {
  bridge: { bridge: 'br0', isGateway: true, ipMasq: false },
  macvlan: { master: 'uplink', mode: 'bridge' },
  ptp: { ipMasq: false },
} as const;

const CASES = (['bridge', 'macvlan', 'ptp'] as const).flatMap((plugin) =>
  (['0.4.0', '1.0.0'] as const).map((cniVersion) => ({ plugin, cniVersion })),
);

interface Result {
  readonly cniVersion: string;
  readonly ips: readonly { readonly address: string; readonly version?: string }[];
}

test.each(CASES)(
  '$plugin, CNI $cniVersion: two containers get dual-stack addresses, see each other, and give them back',
  async ({ plugin, cniVersion }) => {
    await using agent = await startAgent({ pools: POOLS });
    await using host = await makeNetns();
    await using first = await makeNetns();
    await using second = await makeNetns();
    await makeUplink(host);
    const config = {
      cniVersion,
      name: 'lab',
      type: plugin,
      ...MAIN_PLUGINS[plugin],
      ipam: { type: 'ipledger', default_ipv4_ippool: ['v4'], default_ipv6_ippool: ['v6'] },
    };
    const call = (verb: 'ADD' | 'DEL' | 'CHECK', containerId: string, netns: Netns, prevResult?: unknown) =>
      runCni({
        verb,
        plugin,
        host,
        env: agent.env,
        containerId,
        netns: netns.path,
        ifName: 'eth0',
        config: prevResult === undefined ? config : { ...config, prevResult },
      });

    const added = await Promise.all([call('ADD', 'c1', first), call('ADD', 'c2', second)]);
    for (const outcome of added) expect(outcome).toMatchObject({ code: 0, result: { cniVersion } });
    const [one, two] = added.map((outcome) => outcome.result as Result);
    if (one === undefined || two === undefined) throw new Error('an ADD is missing');
    for (const [result, netns] of [
      [one, first],
      [two, second],
    ] as const) {
      const shown = await addressesIn(netns);
      expect(result.ips.map((ip) => ip.address).toSorted()).toEqual(shown.toSorted());
      expect(shown).toHaveLength(2);
    }
    expect(new Set([...one.ips, ...two.ips].map((ip) => ip.address)).size).toBe(4);

    if (plugin === 'ptp') await host.must('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
    for (const { address } of two.ips) await pingEventually(first, address.split('/')[0] ?? '');

    expect(await call('CHECK', 'c1', first, one)).toMatchObject({ code: 0 });
    const moved = { ...one, ips: one.ips.map((ip) => ({ ...ip, address: ip.address.replace(/[0-9a-f]+\//, '19/') })) };
    expect(await call('CHECK', 'c1', first, moved)).toMatchObject({ code: 1, result: { code: 104 } });

    for (const [containerId, netns, result] of [
      ['c1', first, one],
      ['c2', second, two],
    ] as const) {
      expect(await call('DEL', containerId, netns, result)).toMatchObject({ code: 0 });
      expect(await call('DEL', containerId, netns, result)).toMatchObject({ code: 0 });
    }
    const { stdout } = await agent.ctl('list', '-o', 'json');
    expect((JSON.parse(stdout) as { records: unknown[] }).records).toEqual([]);
  },
);

test('a main plugin that fails after IPAM leaves no address behind', async () => {
  await using agent = await startAgent({ pools: POOLS });
  await using host = await makeNetns();
  await using container = await makeNetns();
  await container.must('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'in-the-way');
  const config = { cniVersion: '1.0.0', name: 'lab', type: 'ptp', ipam: { type: 'ipledger' } };
  const common = { host, env: agent.env, containerId: 'c1', netns: container.path, ifName: 'eth0', config } as const;
  expect((await runCni({ verb: 'ADD', plugin: 'ptp', ...common })).code).toBe(1);
  expect(agent.log).toContain('"msg":"ADD"');
  expect((await runCni({ verb: 'DEL', plugin: 'ptp', ...common })).code).toBe(0);
  const { stdout } = await agent.ctl('list', '-o', 'json');
  expect((JSON.parse(stdout) as { records: unknown[] }).records).toEqual([]);
});

/** A veth pair inside the test's host namespace replaces the network card. */
async function makeUplink(host: Netns): Promise<void> {
  await host.must('ip', 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'uplink-peer');
  await host.must('ip', 'link', 'set', 'uplink', 'up');
  await host.must('ip', 'link', 'set', 'uplink-peer', 'up');
}

async function addressesIn(netns: Netns): Promise<string[]> {
  const links = JSON.parse(await netns.must('ip', '-json', 'address', 'show', 'dev', 'eth0', 'scope', 'global')) as {
    addr_info?: { local: string; prefixlen: number }[];
  }[];
  // ip prints an empty object for each address that it filtered out.
  const shown = links.flatMap((link) => link.addr_info ?? []).filter((it) => it.local !== undefined);
  return shown.map((it) => `${it.local}/${it.prefixlen}`);
}

/** An IPv6 address may be tentative for a moment. */
async function pingEventually(netns: Netns, address: string): Promise<void> {
  await expect
    .poll(async () => (await netns.run('ping', ['-c', '1', '-W', '1', address])).code, {
      timeout: 15_000,
      interval: 200,
    })
    .toBe(0);
}
