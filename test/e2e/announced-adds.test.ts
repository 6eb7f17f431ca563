import { expect, test } from 'vitest';
import { parseArp } from '#agent/probe/wire/arp-frame.ts';
import { ETHER_TYPE } from '#agent/probe/wire/ethernet-frame.ts';
import { formatMac } from '#agent/probe/wire/mac-address.ts';
import { parseNdp } from '#agent/probe/wire/ndp-frame.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { startAgent } from '#test/support/agent-process.ts';
import { addressesIn, callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { type Lan, makeLan, WIRINGS } from './probe-lan.ts';
import { openPeer } from './probe-peer.ts';

const POOLS = {
  'p.yaml': [
    poolYaml('v4', { subnet: '10.29.0.0/24', ips: ['10.29.0.10-10.29.0.19'] }),
    poolYaml('v6', { subnet: 'fd00:29::/64', ips: ['fd00:29::10-fd00:29::19'] }),
  ].join('---\n'),
};

/** The announcements of the pod's link that the host receives: `address is-at mac`. */
async function listenOn(lan: Lan) {
  const heard: string[] = [];
  const hear = (frame: Buffer) => {
    const arp = parseArp(frame);
    const ndp = parseNdp(frame);
    const isArp = arp !== null && arp.sender.value === arp.target.value;
    const isNdp = ndp?.isAdvertisement === true && ndp.source.value === ndp.target.value;
    const address = isArp ? arp.target : isNdp ? ndp.target : null;
    if (address !== null) heard.push(`${formatAddress(address)} is-at ${formatMac(frame.subarray(6, 12))}`);
  };
  await using listening = new AsyncDisposableStack();
  listening.use(await openPeer(lan.host, ETHER_TYPE.arp, hear));
  listening.use(await openPeer(lan.host, ETHER_TYPE.ipv6, hear));
  const peers = listening.move();
  return { heard, [Symbol.asyncDispose]: () => peers.disposeAsync() };
}

const unprefixed = (address: string) => address.replace(/\/.*/, '');

test.each(WIRINGS)(
  'over %s: with both detections off an ADD is announced as soon as its link is up',
  async (wiring) => {
    await using agent = await startAgent({ pools: POOLS });
    await using lan = await makeLan(wiring);
    await using listener = await listenOn(lan);
    const added = await callPlugin(agent, 'ADD', 'c1', { env: { CNI_NETNS: lan.pod.path } });
    expect(added.code).toBe(0);
    // The main plugin continues. It sets no address here, so that the kernel itself announces none.
    await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
    const said = addressesIn(added).map((address) => `${unprefixed(address)} is-at ${lan.podMac}`);
    expect(said).toHaveLength(2);
    await expect.poll(() => listener.heard.toSorted(), { timeout: 20_000 }).toEqual(said.toSorted());
  },
);

test.each(['net_raw', 'sys_admin'])(
  'without %s ADDs succeed unannounced, and that is said once',
  async (capability) => {
    await using agent = await startAgent({ pools: POOLS, under: ['setpriv', '--bounding-set', `-${capability}`] });
    await using lan = await makeLan('veth');
    await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
    for (const container of ['c1', 'c2', 'c3']) {
      const added = await callPlugin(agent, 'ADD', container, { env: { CNI_NETNS: lan.pod.path } });
      expect(added.code).toBe(0);
    }
    expect(await agent.stop()).toBe(0);
    expect(agent.log.match(/announced/g)).toHaveLength(1);
  },
);
