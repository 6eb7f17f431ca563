import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import { ETHER_TYPE } from '#agent/probe/wire/ethernet-frame.ts';
import { buildNdpAnnouncement } from '#agent/probe/wire/ndp-frame.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { giveAddress, type Lan, makeLan, setSysctl, strayThreads, targetOn, WIRINGS } from './probe-lan.ts';
import { arpReply, openPeer, type Peer } from './probe-peer.ts';

const V4 = '10.9.0.50';
const V6 = 'fd09::50';
const FREE = { kind: 'free' };

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

interface LateAnswer {
  readonly verdict: unknown;
  /** After the call, which is before the first probe. */
  readonly answeredAfterMs: number | undefined;
}

async function probeLateHost(lan: Lan, prober: Prober, delayMs: number): Promise<LateAnswer> {
  let answeredAtMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const answer = (frame: Buffer, peer: Peer) => {
    peer.send(arpReply(peer.mac, frame));
    answeredAtMs = performance.now();
  };
  await using _peer = await openPeer(lan.host, ETHER_TYPE.arp, (frame, peer) => {
    timer ??= setTimeout(answer, delayMs, frame, peer);
  });
  const startedAtMs = performance.now();
  const verdict = await prober.probe(targetOn(lan, V4));
  clearTimeout(timer);
  return { verdict, answeredAfterMs: answeredAtMs === undefined ? undefined : answeredAtMs - startedAtMs };
}

test('a host that answers after 90 ms is a conflict', { timeout: 120_000 }, async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  await prober.probe(targetOn(lan, V4));
  for (;;) {
    const { verdict, answeredAfterMs } = await probeLateHost(lan, prober, 90);
    // On a busy machine the answer itself may come too late: that run proves nothing.
    if (answeredAfterMs === undefined || answeredAfterMs > 100) continue;
    expect(verdict).toEqual({ kind: 'conflict', mac: lan.hostMac });
    expect(answeredAfterMs).toBeGreaterThan(85);
    return;
  }
});

test('a host that answers after 300 ms is not seen', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  await prober.probe(targetOn(lan, V4));
  expect(await probeLateHost(lan, prober, 300)).toEqual({ verdict: FREE, answeredAfterMs: undefined });
});

test('a host that receives only every second frame is found', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  let heard = 0;
  await using _peer = await openPeer(lan.host, ETHER_TYPE.arp, (frame, peer) => {
    heard += 1;
    if (heard % 2 === 0) peer.send(arpReply(peer.mac, frame));
  });
  // A wide window: on a busy machine the peer, which runs in this process, may be slow to answer.
  const wide = { windowMs: 2_000 };
  expect(await prober.probe(targetOn(lan, V4, wide))).toEqual({ kind: 'conflict', mac: lan.hostMac });
  expect(heard).toBe(2);
  const gateway = { gateway: parseAddress('10.9.0.1'), detectGateway: true, detectConflict: false };
  expect(await prober.probe(targetOn(lan, V4, gateway))).toEqual(FREE);
  expect(heard).toBeGreaterThanOrEqual(4);
});

test('a router that does proxy ARP for everything does not make every address a conflict', async () => {
  await using lan = await makeLan('veth');
  await setSysctl(lan.host, 'ipv4/conf/eth0/proxy_arp', '1');
  await setSysctl(lan.host, 'ipv4/ip_forward', '1');
  await setSysctl(lan.host, 'ipv4/neigh/eth0/proxy_delay', '0');
  await giveAddress(lan.host, '10.9.0.1/24');
  await lan.host.must('ip', 'route', 'add', '10.9.0.128/25', 'dev', 'lo');
  using prober = new Prober();
  // It answers for addresses that it does not have, but not to probes from 0.0.0.0.
  const proxied = { gateway: parseAddress('10.9.0.200'), detectGateway: true };
  expect(await prober.probe(targetOn(lan, '10.9.0.201', proxied))).toEqual(FREE);
});

test('a proxy that also answers probes counts as a conflict, with its MAC', async () => {
  await using lan = await makeLan('bridge');
  using prober = new Prober();
  await using _peer = await openPeer(lan.host, ETHER_TYPE.arp, (frame, peer) => peer.send(arpReply(peer.mac, frame)));
  expect(await prober.probe(targetOn(lan, '10.9.0.77'))).toEqual({ kind: 'conflict', mac: lan.hostMac });
});

/** The frame with a VLAN tag of the given type, as a trunk port would carry it. */
function tagged(frame: Buffer, vlan: number, tagType = 0x8100): Buffer {
  const tag = Buffer.alloc(4);
  tag.writeUInt16BE(tagType, 0);
  tag.writeUInt16BE(vlan, 2);
  return Buffer.concat([frame.subarray(0, 12), tag, frame.subarray(12)]);
}

function broken(frame: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(frame);
  copy.writeUInt8(value, at);
  return copy;
}

test.each(WIRINGS)('over %s: answers of other VLANs and broken ones are no answers', async (wiring) => {
  await using lan = await makeLan(wiring);
  using prober = new Prober();
  let answers = 0;
  await using _arp = await openPeer(lan.host, ETHER_TYPE.arp, (frame, peer) => {
    const reply = arpReply(peer.mac, frame);
    answers += 1;
    for (const it of [
      tagged(reply, 100),
      tagged(reply, 100, 0x88a8),
      tagged(tagged(reply, 100), 200, 0x88a8),
      reply.subarray(0, 20),
      reply.subarray(0, 31),
      broken(reply, 15, 6),
      broken(reply, 17, 1),
      broken(reply, 18, 8),
      broken(reply, 21, 9),
    ]) {
      peer.send(it);
    }
  });
  await using _ndp = await openPeer(lan.host, ETHER_TYPE.ipv6, (_, peer) => {
    const advertisement = buildNdpAnnouncement(peer.mac, parseAddress(V6));
    answers += 1;
    for (const it of [
      tagged(advertisement, 100),
      advertisement.subarray(0, 60),
      advertisement.subarray(0, 80),
      broken(advertisement, 57, 0),
      broken(advertisement, 21, 64),
      broken(advertisement, 79, 0),
      broken(advertisement, 79, 9),
    ]) {
      peer.send(it);
    }
  });
  const verdicts = await Promise.all([prober.probe(targetOn(lan, V4)), prober.probe(targetOn(lan, V6))]);
  expect(verdicts).toEqual([FREE, FREE]);
  expect(answers).toBeGreaterThan(1);
});

test('a priority tag (VLAN 0) makes no difference: the host is on this link', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  await using _peer = await openPeer(lan.host, ETHER_TYPE.arp, (frame, peer) =>
    peer.send(tagged(arpReply(peer.mac, frame), 0)),
  );
  expect(await prober.probe(targetOn(lan, V4))).toEqual({ kind: 'conflict', mac: lan.hostMac });
});
