import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { arpDialect } from './arp-dialect.ts';
import { buildArpProbe, buildArpRequest } from './arp-frame.ts';
import { PACKET_TYPE_AT } from './bpf-program.ts';
import { formatMac } from './mac-address.ts';
import { ndpDialect } from './ndp-dialect.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation } from './ndp-frame.ts';

const HOST = 0;
const BROADCAST = 1;
const OTHER_HOST = 3;
const OUTGOING = 4;

/** Runs the program as the kernel does: a load outside of the frame rejects it. */
function passes(program: Buffer, frame: Buffer, packetType = BROADCAST): boolean {
  const width = { 48: 1, 40: 2, 32: 4 } as Record<number, number>;
  let accumulator = 0;
  for (let at = 0; ; at += 8) {
    const code = program.readUInt16LE(at);
    const value = program.readUInt32LE(at + 4);
    const bytes = width[code];
    if (code === 0x06) return value !== 0;
    if (bytes !== undefined && value === PACKET_TYPE_AT) accumulator = packetType;
    else if (bytes !== undefined && value + bytes > frame.length) return false;
    else if (bytes !== undefined) accumulator = frame.readUIntBE(value, bytes);
    else at += 8 * program.readUInt8(at + ((code === 0x15 ? accumulator === value : accumulator >= value) ? 2 : 3));
  }
}

const OWN = Buffer.from('0200c0a80001', 'hex');
const FOREIGN = Buffer.from('0a0000000002', 'hex');
const NONCE = Buffer.alloc(6, 7);

/** A few addresses that differ in one byte each, to detect a filter that compares too few bytes. */
const V4 = ['10.0.2.50', '10.0.2.1', '10.0.2.51', '11.0.2.50'].map(parseAddress);
const V6 = ['fd00::50', 'fd00::1', 'fd00::1:50', 'fd00:0:1::50', 'fd01::50', 'fd00::1:0:0:50'].map(parseAddress);
const NONE4 = parseAddress('0.0.0.0');

function reply(frame: Buffer): Buffer {
  const answer = Buffer.from(frame);
  answer.writeUInt16BE(2, 20);
  return answer;
}

const arpFrames = [NONE4, ...V4].flatMap((sender) =>
  V4.flatMap((target) => [OWN, FOREIGN].map((mac) => buildArpRequest(mac, sender, target))),
);
const ndpFrames = [OWN, FOREIGN].flatMap((mac) =>
  V6.flatMap((target) => [
    buildNdpProbe(mac, target, NONCE),
    buildNdpProbe(mac, target, Buffer.alloc(6, 8)),
    buildNdpAnnouncement(mac, target),
    ...V6.map((sender) => buildNdpSolicitation(mac, sender, target)),
  ]),
);

const gateways = [false, true];
const dialects = gateways.flatMap((hasGateway) => {
  const [address4 = NONE4, gateway4 = NONE4] = V4;
  const [address6 = NONE4, gateway6 = NONE4] = V6;
  return [
    {
      name: `ARP${hasGateway ? ' with gateway' : ''}`,
      dialect: arpDialect({ mac: OWN, address: address4, gateway: hasGateway ? gateway4 : null }),
      frames: [...arpFrames, ...arpFrames.map(reply)],
    },
    {
      name: `NDP${hasGateway ? ' with gateway' : ''}`,
      dialect: ndpDialect({ mac: OWN, address: address6, gateway: hasGateway ? gateway6 : null }, NONCE),
      frames: ndpFrames,
    },
  ];
});

test.each(dialects)('$name: every frame that proves a host passes the filter, and most other frames do not', (row) => {
  const { dialect, frames } = row;
  const telling = frames.filter((frame) => dialect.read(frame) !== null);
  expect(telling.length).toBeGreaterThan(0);
  expect(telling.filter((frame) => !passes(dialect.filter, frame)).map(String)).toEqual([]);
  const passing = frames.filter((frame) => passes(dialect.filter, frame));
  expect(passing.length).toBeLessThan(frames.length / 2);
});

test.each(dialects)('$name: frames for another host or from this one never pass', (row) => {
  for (const type of [OTHER_HOST, OUTGOING]) {
    expect(row.frames.filter((frame) => passes(row.dialect.filter, frame, type))).toEqual([]);
  }
  expect(row.frames.filter((frame) => passes(row.dialect.filter, frame, HOST)).length).toBeGreaterThan(0);
});

test.each(dialects)('$name: a storm of frames about other addresses does not pass', ({ dialect }) => {
  fc.assert(
    fc.property(fc.nat(0xffff), fc.nat(0xffff), (a, b) => {
      const at = (low: number) => ({ family: 4, value: 0x0a640000n + BigInt(low) }) as const;
      const at6 = (low: number) => ({ family: 6, value: (0xfd64n << 112n) + BigInt(low) }) as const;
      expect(passes(dialect.filter, buildArpRequest(FOREIGN, at(a), at(b)))).toBe(false);
      expect(passes(dialect.filter, buildArpProbe(FOREIGN, at(a)))).toBe(false);
      expect(passes(dialect.filter, buildNdpAnnouncement(FOREIGN, at6(a)))).toBe(false);
    }),
  );
});

test.each(dialects)('$name: truncated frames do not pass', ({ dialect, frames }) => {
  for (const frame of frames) {
    const whole = passes(dialect.filter, frame);
    const shortest = dialect.etherType === 0x0806 ? 32 : 78;
    expect([whole, passes(dialect.filter, frame.subarray(0, shortest - 1))]).toEqual([whole, false]);
  }
});

test.each(dialects)(
  '$name: frames with the own MAC or the own nonce do not prove another host',
  ({ dialect, frames }) => {
    const seen = frames.map((frame) => dialect.read(frame)).filter((sighting) => sighting !== null);
    expect(new Set(seen.map(({ mac }) => mac))).toEqual(new Set([formatMac(FOREIGN)]));
  },
);
