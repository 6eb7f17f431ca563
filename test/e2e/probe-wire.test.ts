import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import { buildArpAnnouncement, buildArpProbe, buildArpRequest } from '#agent/probe/wire/arp-frame.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation } from '#agent/probe/wire/ndp-frame.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { startCapture } from './probe-capture.ts';
import { announcementOn, type Lan, makeLan, setSysctl, strayThreads, targetOn } from './probe-lan.ts';

const V4 = '10.9.0.50';
const V6 = 'fd09::a:1:2345';
const GATEWAY4 = '10.9.0.1';
const GATEWAY6 = 'fd09::1';
const BEACON = '10.9.0.250';
const [v4, v6, gateway4, gateway6] = [
  parseAddress(V4),
  parseAddress(V6),
  parseAddress(GATEWAY4),
  parseAddress(GATEWAY6),
];

/** Every frame that a probe and an announcement send, how often, and what tshark must read in it. */
function expectedFrames(lan: Lan, nonce: string) {
  const mac = Buffer.from(lan.podMac.replaceAll(':', ''), 'hex');
  const arp = {
    'eth.dst': 'ff:ff:ff:ff:ff:ff',
    'arp.opcode': '1',
    'arp.src.hw_mac': lan.podMac,
    'arp.dst.hw_mac': '00:00:00:00:00:00',
  };
  const ndp = { 'ipv6.hlim': '255', 'icmpv6.checksum.status': '1', 'icmpv6.code': '0' };
  const solicitation = { ...ndp, 'icmpv6.type': '135', 'icmpv6.opt.length': '1' };
  return [
    {
      times: 3,
      frame: buildArpProbe(mac, v4),
      fields: { ...arp, 'arp.isprobe': '1', 'arp.src.proto_ipv4': '0.0.0.0', 'arp.dst.proto_ipv4': V4 },
    },
    {
      times: 3,
      frame: buildArpRequest(mac, v4, gateway4),
      fields: { ...arp, 'arp.src.proto_ipv4': V4, 'arp.dst.proto_ipv4': GATEWAY4 },
    },
    {
      times: 1,
      frame: buildArpAnnouncement(mac, v4),
      fields: { ...arp, 'arp.isannouncement': '1', 'arp.src.proto_ipv4': V4, 'arp.dst.proto_ipv4': V4 },
    },
    {
      times: 3,
      frame: buildNdpProbe(mac, v6, Buffer.from(nonce, 'hex')),
      fields: {
        ...solicitation,
        'eth.dst': '33:33:ff:01:23:45',
        'ipv6.src': '::',
        'ipv6.dst': 'ff02::1:ff01:2345',
        'icmpv6.nd.ns.target_address': V6,
        'icmpv6.opt.type': '14',
      },
    },
    {
      times: 3,
      frame: buildNdpSolicitation(mac, v6, gateway6),
      fields: {
        ...solicitation,
        'eth.dst': '33:33:ff:00:00:01',
        'ipv6.src': V6,
        'ipv6.dst': 'ff02::1:ff00:1',
        'icmpv6.nd.ns.target_address': GATEWAY6,
        'icmpv6.opt.type': '1',
        'icmpv6.opt.linkaddr': lan.podMac,
      },
    },
    {
      times: 1,
      frame: buildNdpAnnouncement(mac, v6),
      fields: {
        ...ndp,
        'eth.dst': '33:33:00:00:00:01',
        'ipv6.src': V6,
        'ipv6.dst': 'ff02::1',
        'icmpv6.type': '136',
        'icmpv6.nd.na.flag.s': '0',
        'icmpv6.nd.na.flag.o': '1',
        'icmpv6.nd.na.target_address': V6,
        'icmpv6.opt.type': '2',
        'icmpv6.opt.linkaddr': lan.podMac,
      },
    },
  ];
}

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

test('tshark sees on the wire, byte for byte, the frames that RFC 5227, 4861, 4862 and 7527 ask for', async () => {
  await using lan = await makeLan('veth');
  // Otherwise the pod's kernel would send frames too.
  await setSysctl(lan.pod, 'ipv6/conf/eth0/disable_ipv6', '1');
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
  using prober = new Prober();
  await using capture = await startCapture(
    lan.host,
    'eth0',
    () => void prober.announcer.announce(announcementOn(lan, BEACON)),
  );
  const verdicts = await Promise.all([
    prober.probe(targetOn(lan, V4, { gateway: gateway4, detectGateway: true })),
    prober.probe(targetOn(lan, V6, { gateway: gateway6, detectGateway: true })),
  ]);
  expect(verdicts).toEqual([{ kind: 'gateway-unreachable' }, { kind: 'gateway-unreachable' }]);
  expect(await prober.announcer.announce(announcementOn(lan, V4, V6))).toEqual({ kind: 'announced' });

  const seen = (await capture.frames()).filter(
    ({ fields }) => fields.get('eth.src') === lan.podMac && fields.get('arp.src.proto_ipv4') !== BEACON,
  );
  const nonces = new Set(seen.map(({ fields }) => fields.get('icmpv6.opt.nonce')).filter((it) => it !== undefined));
  expect([...nonces]).toEqual([expect.stringMatching(/^([0-9a-f]{2}:?){6}$/)]);
  const expected = expectedFrames(lan, [...nonces].join('').replaceAll(':', ''));
  const bytes = expected.flatMap(({ times, frame }) => Array<string>(times).fill(frame.toString('hex')));
  expect(seen.map(({ hex }) => hex).toSorted()).toEqual(bytes.toSorted());
  for (const { frame, fields } of expected) {
    const decoded = seen.find(({ hex }) => hex === frame.toString('hex'));
    expect(Object.fromEntries(decoded?.fields ?? [])).toMatchObject(fields);
  }
});
