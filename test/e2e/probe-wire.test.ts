import { afterEach, expect, test } from 'vitest';
import { buildArpAnnouncement, buildArpProbe, buildArpRequest } from '#agent/probe/arp-frame.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation } from '#agent/probe/ndp-frame.ts';
import { Prober } from '#agent/probe/prober.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { type Decoded, startCapture } from './probe-capture.ts';
import { makeLan, strayThreads, targetOn } from './probe-lan.ts';

const V4 = '10.9.0.50';
const V6 = 'fd09::a:1:2345';
const GATEWAY4 = '10.9.0.1';
const GATEWAY6 = 'fd09::1';
const BEACON = '10.9.0.250';

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

test('tshark sees on the wire, byte for byte, the frames that RFC 5227, 4861, 4862 and 7527 ask for', async () => {
  await using lan = await makeLan('veth');
  // Or the pod's kernel would speak as well.
  await lan.pod.must('sysctl', '-qw', 'net.ipv6.conf.eth0.disable_ipv6=1');
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
  const failures: string[] = [];
  using prober = new Prober({ onAnnounceFailure: (_, why) => failures.push(why) });
  await using capture = await startCapture(lan.host, 'eth0', () => prober.announce(targetOn(lan, BEACON)));

  const verdicts = await Promise.all([
    prober.probe(targetOn(lan, V4, { gateway: parseAddress(GATEWAY4), detectGateway: true })),
    prober.probe(targetOn(lan, V6, { gateway: parseAddress(GATEWAY6), detectGateway: true })),
  ]);
  expect(verdicts).toEqual([{ kind: 'gateway-unreachable' }, { kind: 'gateway-unreachable' }]);
  prober.announce(targetOn(lan, V4));
  prober.announce(targetOn(lan, V6));
  const frames = (await capture.frames()).filter(
    ({ fields }) => fields.get('eth.src') === lan.podMac && fields.get('arp.src.proto_ipv4') !== BEACON,
  );
  expect(failures).toEqual([]);

  const mac = Buffer.from(lan.podMac.replaceAll(':', ''), 'hex');
  const [v4, v6, gateway4, gateway6] = [V4, V6, GATEWAY4, GATEWAY6].map(parseAddress) as [A, A, A, A];
  const nonce = Buffer.from((fieldOf(frames, 'icmpv6.opt.nonce') ?? '').replaceAll(':', ''), 'hex');
  expect(nonce.length).toBe(6);
  const thrice = (frame: Buffer) => [frame, frame, frame];
  const built = [
    ...thrice(buildArpProbe(mac, v4)),
    ...thrice(buildArpRequest(mac, v4, gateway4)),
    buildArpAnnouncement(mac, v4),
    ...thrice(buildNdpProbe(mac, v6, nonce)),
    ...thrice(buildNdpSolicitation(mac, v6, gateway6)),
    buildNdpAnnouncement(mac, v6),
  ].map((frame) => frame.toString('hex'));
  expect(frames.map(({ hex }) => hex).toSorted()).toEqual(built.toSorted());

  const decoded = (frame: Buffer) => frames.find(({ hex }) => hex === frame.toString('hex'))?.fields ?? new Map();
  const arp = {
    'eth.dst': 'ff:ff:ff:ff:ff:ff',
    'arp.opcode': '1',
    'arp.src.hw_mac': lan.podMac,
    'arp.dst.hw_mac': '00:00:00:00:00:00',
  };
  expect(Object.fromEntries(decoded(buildArpProbe(mac, v4)))).toMatchObject({
    ...arp,
    'arp.isprobe': '1',
    'arp.src.proto_ipv4': '0.0.0.0',
    'arp.dst.proto_ipv4': V4,
  });
  expect(Object.fromEntries(decoded(buildArpRequest(mac, v4, gateway4)))).toMatchObject({
    ...arp,
    'arp.src.proto_ipv4': V4,
    'arp.dst.proto_ipv4': GATEWAY4,
  });
  expect(Object.fromEntries(decoded(buildArpAnnouncement(mac, v4)))).toMatchObject({
    ...arp,
    'arp.isannouncement': '1',
    'arp.src.proto_ipv4': V4,
    'arp.dst.proto_ipv4': V4,
  });
});

type A = ReturnType<typeof parseAddress>;

function fieldOf(frames: readonly Decoded[], name: string): string | undefined {
  return frames.map(({ fields }) => fields.get(name)).find((value) => value !== undefined);
}
