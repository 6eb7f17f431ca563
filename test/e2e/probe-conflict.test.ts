import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import { buildArpAnnouncement, buildArpProbe, buildArpRequest, parseArp } from '#agent/probe/wire/arp-frame.ts';
import { ETHER_TYPE } from '#agent/probe/wire/ethernet-frame.ts';
import { formatMac } from '#agent/probe/wire/mac-address.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation, parseNdp } from '#agent/probe/wire/ndp-frame.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { giveAddress, makeLan, setSysctl, strayThreads, targetOn, WIRINGS } from './probe-lan.ts';
import { arpReply, openPeer, type Peer } from './probe-peer.ts';

const V4 = '10.9.0.50';
const V6 = 'fd09::50';

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

test.each(WIRINGS)('over %s: an address of another kernel is a conflict, the one beside it is free', async (wiring) => {
  await using lan = await makeLan(wiring);
  await giveAddress(lan.host, `${V4}/24`);
  await giveAddress(lan.host, `${V6}/64`);
  using prober = new Prober();
  const conflict = { kind: 'conflict', mac: lan.hostMac };
  // The first one finds the link down.
  expect(await prober.probe(targetOn(lan, V4))).toEqual(conflict);
  expect(await prober.probe(targetOn(lan, V6))).toEqual(conflict);
  expect(
    await Promise.all([prober.probe(targetOn(lan, '10.9.0.51')), prober.probe(targetOn(lan, 'fd09::51'))]),
  ).toEqual([{ kind: 'free' }, { kind: 'free' }]);
});

test.each(WIRINGS)('over %s: IPv6 is probed while it is still off in the pod', async (wiring) => {
  await using lan = await makeLan(wiring);
  await setSysctl(lan.pod, 'ipv6/conf/eth0/disable_ipv6', '1');
  await giveAddress(lan.host, `${V6}/64`);
  using prober = new Prober();
  expect(await prober.probe(targetOn(lan, V6))).toEqual({ kind: 'conflict', mac: lan.hostMac });
});

/** Reactions of a foreign host to our probe, and whether they prove a conflict. */
const BEHAVIOURS: {
  readonly name: string;
  readonly address: string;
  readonly answer: (frame: Buffer, peer: Peer, podMac: Buffer) => Buffer;
  readonly isConflict: boolean;
}[] = [
  { name: 'replies', address: V4, answer: (frame, { mac }) => arpReply(mac, frame), isConflict: true },
  { name: 'probes too', address: V4, answer: (_, { mac }) => buildArpProbe(mac, parseAddress(V4)), isConflict: true },
  {
    name: 'announces it',
    address: V4,
    answer: (_, { mac }) => buildArpAnnouncement(mac, parseAddress(V4)),
    isConflict: true,
  },
  {
    name: 'talks to others from it',
    address: V4,
    answer: (_, { mac }) => buildArpRequest(mac, parseAddress(V4), parseAddress('10.9.0.1')),
    isConflict: true,
  },
  {
    name: 'looks for it',
    address: V4,
    answer: (_, { mac }) => buildArpRequest(mac, parseAddress('10.9.0.1'), parseAddress(V4)),
    isConflict: false,
  },
  {
    name: 'probes for another one',
    address: V4,
    answer: (_, { mac }) => buildArpProbe(mac, parseAddress('10.9.0.51')),
    isConflict: false,
  },
  { name: 'sends our own probe back', address: V4, answer: (frame) => frame, isConflict: false },
  { name: 'replies in our name', address: V4, answer: (frame, _, mac) => arpReply(mac, frame), isConflict: false },
  {
    name: 'advertises it',
    address: V6,
    answer: (_, { mac }) => buildNdpAnnouncement(mac, parseAddress(V6)),
    isConflict: true,
  },
  {
    name: 'probes too',
    address: V6,
    answer: (_, { mac }) => buildNdpProbe(mac, parseAddress(V6), Buffer.alloc(6, 9)),
    isConflict: true,
  },
  {
    name: 'looks for it',
    address: V6,
    answer: (_, { mac }) => buildNdpSolicitation(mac, parseAddress('fd09::1'), parseAddress(V6)),
    isConflict: false,
  },
  {
    name: 'reflects our probe under its own MAC',
    address: V6,
    answer: (frame, { mac }) => Buffer.concat([frame.subarray(0, 6), mac, frame.subarray(12)]),
    isConflict: false,
  },
];

for (const wiring of WIRINGS) {
  test.each(BEHAVIOURS)(`over ${wiring}: a host that $name ($address) is a conflict: $isConflict`, async (row) => {
    await using lan = await makeLan(wiring);
    using prober = new Prober();
    const podMac = Buffer.from(lan.podMac.replaceAll(':', ''), 'hex');
    let probes = 0;
    await using _peer = await openPeer(
      lan.host,
      row.address === V4 ? ETHER_TYPE.arp : ETHER_TYPE.ipv6,
      (frame, peer) => {
        if (!isProbeFor(frame, row.address, lan.podMac)) return;
        probes += 1;
        peer.send(row.answer(frame, peer, podMac));
      },
    );
    const verdict = await prober.probe(targetOn(lan, row.address));
    expect(verdict).toEqual(row.isConflict ? { kind: 'conflict', mac: lan.hostMac } : { kind: 'free' });
    expect(probes).toBeGreaterThan(0);
  });
}

function isProbeFor(frame: Buffer, text: string, podMac: string): boolean {
  const { value } = parseAddress(text);
  if (formatMac(frame.subarray(6, 12)) !== podMac) return false;
  const arp = parseArp(frame);
  const ndp = parseNdp(frame);
  return arp !== null
    ? arp.sender.value === 0n && arp.target.value === value
    : ndp?.source.value === 0n && ndp.target.value === value;
}
