import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { buildEthernet, ETHER_TYPE } from './ethernet-frame.ts';
import { buildIcmpv6 } from './icmpv6-packet.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation, parseNdp } from './ndp-frame.ts';

const MAC = Buffer.from('0200c0a80001', 'hex');
const NONCE = Buffer.from('a1b2c3d4e5f6', 'hex');
const ADDRESS = parseAddress('fd00::a:1:2345');
const GATEWAY = parseAddress('fd00::1');

const PROBE =
  '3333ff012345 0200c0a80001 86dd 60000000 0020 3aff 00000000000000000000000000000000 ff0200000000000000000001ff012345' +
  ' 8700dd89 00000000 fd000000000000000000000a00012345 0e01 a1b2c3d4e5f6';
const SOLICITATION =
  '3333ff000001 0200c0a80001 86dd 60000000 0020 3aff fd000000000000000000000a00012345 ff0200000000000000000001ff000001' +
  ' 870099a1 00000000 fd000000000000000000000000000001 0101 0200c0a80001';
const ANNOUNCEMENT =
  '333300000001 0200c0a80001 86dd 60000000 0020 3aff fd000000000000000000000a00012345 ff020000000000000000000000000001' +
  ' 88005354 20000000 fd000000000000000000000a00012345 0201 0200c0a80001';

const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test.each([
  { name: 'probe', frame: buildNdpProbe(MAC, ADDRESS, NONCE), wire: PROBE },
  { name: 'solicitation', frame: buildNdpSolicitation(MAC, ADDRESS, GATEWAY), wire: SOLICITATION },
  { name: 'announcement', frame: buildNdpAnnouncement(MAC, ADDRESS), wire: ANNOUNCEMENT },
])('the bytes of a $name', ({ frame, wire }) => {
  expect(frame.toString('hex')).toBe(bytes(wire).toString('hex'));
});

test('a probe carries its nonce and no source', () => {
  expect(parseNdp(bytes(PROBE))).toEqual({
    isAdvertisement: false,
    source: parseAddress('::'),
    target: ADDRESS,
    mac: '02:00:c0:a8:00:01',
    nonce: NONCE,
  });
});

interface Made {
  readonly source?: string;
  readonly destination?: string;
  readonly message: string;
  readonly etherType?: number;
}

const TARGET = 'fd000000000000000000000a00012345';

function frameOf({ source = 'fd00::9', destination = 'ff02::1', message, etherType = ETHER_TYPE.ipv6 }: Made): Buffer {
  const packet = { source: parseAddress(source), destination: parseAddress(destination), message: bytes(message) };
  return buildEthernet(MAC, Buffer.from('0a0000000002', 'hex'), etherType, buildIcmpv6(packet));
}

test.each([
  { name: 'no option: the MAC of the frame', options: '', mac: '0a:00:00:00:00:02' },
  { name: 'its link-layer address', options: '0201 0a0000000003', mac: '0a:00:00:00:00:03' },
  { name: 'the first of two', options: '0201 0a0000000003 0201 0a0000000004', mac: '0a:00:00:00:00:03' },
  { name: 'behind an unknown option', options: 'fd01 000000000000 0201 0a0000000003', mac: '0a:00:00:00:00:03' },
  { name: 'a source option means nothing here', options: '0101 0a0000000003', mac: '0a:00:00:00:00:02' },
])('an advertisement is parsed with any options: $name', ({ options, mac }) => {
  const frame = frameOf({ message: `88000000 20000000 ${TARGET} ${options}` });
  expect(parseNdp(frame)).toMatchObject({ isAdvertisement: true, target: ADDRESS, mac });
});

test('bytes after the packet are ignored', () => {
  expect(parseNdp(Buffer.concat([bytes(PROBE), Buffer.alloc(7, 0xee)]))).toEqual(parseNdp(bytes(PROBE)));
});

function patched(wire: string, at: number, hex: string): Buffer {
  const frame = bytes(wire);
  frame.write(hex, at, 'hex');
  return frame;
}

const tagged = Buffer.concat([
  bytes(ANNOUNCEMENT).subarray(0, 12),
  bytes('8100 0064'),
  bytes(ANNOUNCEMENT).subarray(12),
]);
const GROUP = 'ff02::1:ff01:2345';

test.each([
  { name: 'nothing', frame: Buffer.alloc(0) },
  { name: 'an Ethernet header', frame: bytes(PROBE).subarray(0, 14) },
  { name: 'an IPv6 header', frame: bytes(PROBE).subarray(0, 54) },
  { name: 'one byte less', frame: bytes(PROBE).subarray(0, -1) },
  { name: 'a VLAN tag', frame: tagged },
  { name: 'another type', frame: patched(PROBE, 12, '0800') },
  { name: 'IPv4 inside', frame: patched(PROBE, 14, '45') },
  { name: 'an extension header', frame: patched(PROBE, 20, '00') },
  { name: 'through a router', frame: patched(PROBE, 21, 'fe') },
  { name: 'a wrong checksum', frame: patched(PROBE, 56, 'dd8a') },
  { name: 'a longer payload than there is', frame: patched(PROBE, 18, 'ffff') },
  { name: 'an empty message', frame: frameOf({ message: '00000000' }) },
  { name: 'an echo request', frame: frameOf({ message: `80000000 00000000 ${TARGET}` }) },
  { name: 'code 1', frame: frameOf({ message: `88010000 20000000 ${TARGET}` }) },
  { name: 'a multicast target', frame: frameOf({ message: `88000000 20000000 ff02${TARGET.slice(4)}` }) },
  { name: 'solicited, to a group', frame: frameOf({ message: `88000000 60000000 ${TARGET}` }) },
  { name: 'an option without length', frame: frameOf({ message: `88000000 20000000 ${TARGET} 0200 0a0000000003` }) },
  { name: 'an option that ends outside', frame: frameOf({ message: `88000000 20000000 ${TARGET} 0202 0a0000000003` }) },
  { name: 'half an option header', frame: frameOf({ message: `88000000 20000000 ${TARGET} 02` }) },
  {
    name: 'a probe to another group',
    frame: frameOf({ source: '::', destination: 'ff02::1', message: `87000000 00000000 ${TARGET}` }),
  },
  {
    name: 'a probe with a source option',
    frame: frameOf({ source: '::', destination: GROUP, message: `87000000 00000000 ${TARGET} 0101 0a0000000003` }),
  },
])('rejected as neighbour discovery: $name', ({ frame }) => {
  expect(parseNdp(frame)).toBeNull();
});
