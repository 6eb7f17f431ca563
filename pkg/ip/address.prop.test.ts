import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress, highestAddress, parseAddress } from './address.ts';

const ipv4Value = fc.bigInt(0n, highestAddress(4));
const ipv6Groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
  minLength: 8,
  maxLength: 8,
});
const isMapped = (value: bigint) => value >> 32n === 0xffffn;
const toValue = (groups: readonly number[]) => groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);

test('what is printed reads back as the same address', () => {
  fc.assert(
    fc.property(ipv4Value, ipv6Groups.map(toValue), (small, large) => {
      fc.pre(!isMapped(large));
      for (const address of [{ family: 4, value: small } as const, { family: 6, value: large } as const]) {
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }
    }),
  );
});

test('IPv6 is printed as the URL standard prints it', () => {
  fc.assert(
    fc.property(ipv6Groups, (groups) => {
      const spelled = groups.map((group) => group.toString(16)).join(':');
      const printed = formatAddress({ family: 6, value: toValue(groups) });
      expect(`[${printed}]`).toBe(new URL(`http://[${spelled}]/`).hostname);
    }),
    { numRuns: 1000 },
  );
});

test('near misses are read like the URL standard reads them, or refused', () => {
  const spelling = fc.oneof(fc.ipV6(), fc.ipV4());
  const nearMiss = fc.tuple(spelling, fc.nat(45), fc.nat(2), fc.constantFrom('', ':', '::', '.', '0', 'f', '256'));
  fc.assert(
    fc.property(nearMiss, ([spelled, at, cut, inserted]) => {
      const text = spelled.slice(0, at) + inserted + spelled.slice(at + cut);
      const address = tryParse(text);
      if (!text.includes(':')) return address === null || formatAddress(address) === text;
      const host = URL.canParse(`http://[${text}]/`) ? new URL(`http://[${text}]/`).hostname : null;
      if (address === null) return host === null;
      return host === `[${formatAddress(address)}]` || address.family === 4;
    }),
    { numRuns: 2000 },
  );
});

test('any text is an address or a bad input of bounded length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      try {
        parseAddress(text);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(IpamError);
        expect((thrown as IpamError).message.length).toBeLessThan(600);
      }
    }),
  );
});

function tryParse(text: string) {
  try {
    return parseAddress(text);
  } catch {
    return null;
  }
}
