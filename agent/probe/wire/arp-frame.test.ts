import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { buildArpAnnouncement, buildArpProbe, buildArpRequest, parseArp } from './arp-frame.ts';

const MAC = Buffer.from('0200c0a80001', 'hex');
const ADDRESS = parseAddress('10.0.2.50');
const GATEWAY = parseAddress('10.0.2.1');
const HEAD = 'ffffffffffff 0200c0a80001 0806 0001 0800 06 04 0001 0200c0a80001';

const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test.each([
  { name: 'probe', frame: buildArpProbe(MAC, ADDRESS), wire: `${HEAD} 00000000 000000000000 0a000232` },
  { name: 'request', frame: buildArpRequest(MAC, ADDRESS, GATEWAY), wire: `${HEAD} 0a000232 000000000000 0a000201` },
  { name: 'announcement', frame: buildArpAnnouncement(MAC, ADDRESS), wire: `${HEAD} 0a000232 000000000000 0a000232` },
])('the bytes of a $name', ({ frame, wire }) => {
  expect(frame.toString('hex')).toBe(bytes(wire).toString('hex'));
});

const REPLY = bytes('0200c0a80001 0a0000000002 0806 0001 0800 06 04 0002 0a0000000002 0a000232 0200c0a80001 00000000');

test('a reply is parsed into the MAC and the address of its sender', () => {
  expect(parseArp(REPLY)).toEqual({
    isReply: true,
    senderMac: '0a:00:00:00:00:02',
    sender: ADDRESS,
    target: parseAddress('0.0.0.0'),
  });
});

test('the padding of a short frame is ignored', () => {
  expect(parseArp(Buffer.concat([REPLY, Buffer.alloc(18, 0xee)]))).toEqual(parseArp(REPLY));
});

function patched(at: number, hex: string): Buffer {
  const frame = Buffer.from(REPLY);
  frame.write(hex, at, 'hex');
  return frame;
}

const tagged = Buffer.concat([REPLY.subarray(0, 12), bytes('8100 0064'), REPLY.subarray(12)]);

test.each([
  { name: 'nothing', frame: Buffer.alloc(0) },
  { name: 'half an Ethernet header', frame: REPLY.subarray(0, 13) },
  { name: 'an Ethernet header', frame: REPLY.subarray(0, 14) },
  { name: 'one byte less', frame: REPLY.subarray(0, 41) },
  { name: 'a VLAN tag', frame: tagged },
  { name: 'two VLAN tags', frame: Buffer.concat([tagged.subarray(0, 12), bytes('88a8 00c8'), tagged.subarray(12)]) },
  { name: 'another type', frame: patched(12, '0800') },
  { name: 'other hardware', frame: patched(14, '0006') },
  { name: 'another protocol', frame: patched(16, '86dd') },
  { name: 'a longer hardware address', frame: patched(18, '08') },
  { name: 'no protocol address', frame: patched(19, '00') },
  { name: 'a reverse request', frame: patched(20, '0003') },
  { name: 'operation 0', frame: patched(20, '0000') },
])('no ARP: $name', ({ frame }) => {
  expect(parseArp(frame)).toBeNull();
});
