import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildArpAnnouncement, buildArpProbe, buildArpRequest, parseArp } from '#agent/probe/wire/arp-frame.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation, parseNdp } from '#agent/probe/wire/ndp-frame.ts';
import type { Family } from '#pkg/ip/address.ts';

const bytesOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes));
const macs = bytesOf(6);
const addresses = (family: Family) =>
  // Not multicast: a group is not the address of a host.
  fc.bigInt({ min: 1n, max: family === 4 ? 0xdfffffffn : (0xffn << 120n) - 1n }).map((value) => ({ family, value }));

const arpFrames = fc
  .tuple(macs, addresses(4), addresses(4))
  .chain(([mac, a, b]) =>
    fc.constantFrom(buildArpProbe(mac, a), buildArpRequest(mac, a, b), buildArpAnnouncement(mac, a)),
  );
const ndpFrames = fc
  .tuple(macs, addresses(6), addresses(6), bytesOf(6))
  .chain(([mac, a, b, nonce]) =>
    fc.constantFrom(buildNdpProbe(mac, a, nonce), buildNdpSolicitation(mac, a, b), buildNdpAnnouncement(mac, a)),
  );

test('no bytes make a parser throw', () => {
  const looksLike = fc.constantFrom('', '0806', '86dd', '8100').chain((type) =>
    fc.tuple(bytesOf(12), fc.uint8Array({ maxLength: 128 })).map(([macs, rest]) => {
      const head = type === '' ? Buffer.alloc(0) : Buffer.concat([macs, Buffer.from(type, 'hex')]);
      return Buffer.concat([head, rest]);
    }),
  );
  fc.assert(
    fc.property(looksLike, (frame) => {
      parseArp(frame);
      parseNdp(frame);
    }),
    { numRuns: 2000 },
  );
});

test('no change of a few bytes in a sound frame makes a parser throw', () => {
  const changes = fc.array(fc.tuple(fc.nat(127), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.oneof(arpFrames, ndpFrames), changes, fc.nat(128), (frame, patches, length) => {
      const hostile = Buffer.from(frame);
      for (const [at, value] of patches) hostile[at % hostile.length] = value;
      parseArp(hostile.subarray(0, length));
      parseNdp(hostile.subarray(0, length));
    }),
    { numRuns: 2000 },
  );
});

test('a built frame is parsed, and a truncated one is not', () => {
  fc.assert(
    fc.property(arpFrames, ndpFrames, fc.nat(), (arp, ndp, cut) => {
      expect(parseArp(arp)).not.toBeNull();
      expect(parseNdp(ndp)).not.toBeNull();
      expect(parseArp(arp.subarray(0, cut % arp.length))).toBeNull();
      expect(parseNdp(ndp.subarray(0, cut % ndp.length))).toBeNull();
    }),
  );
});

test('the checksum detects one wrong bit anywhere in the addresses or in the message', () => {
  fc.assert(
    fc.property(ndpFrames, fc.nat(), (frame, at) => {
      const bit = at % ((frame.length - 22) * 8);
      const broken = Buffer.from(frame);
      const byte = 22 + (bit >> 3);
      broken.writeUInt8(broken.readUInt8(byte) ^ (1 << (bit & 7)), byte);
      expect(parseNdp(broken)).toBeNull();
    }),
    { numRuns: 1000 },
  );
});
