import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { parseNamespacePools } from './asked-pools.ts';
import { parseIppool, parseIppools } from './pool-annotations.ts';
import { parseRoutes } from './route-annotation.ts';
import { parseSubnet, parseSubnets } from './subnet-annotations.ts';
import { parseIpNumber } from './subnet-wish.ts';

const PARSERS: Record<string, (text: string) => unknown> = {
  parseIppool,
  parseIppools: (text) => parseIppools(text, { interface: 'eth0', interfaceIndex: 0 }),
  parseSubnet,
  parseSubnets,
  parseIpNumber,
  parseRoutes,
  parseNamespacePools: (text) => parseNamespacePools({ 'ipam.spidernet.io/default-ipv4-ippool': text }),
};

const key = fc.constantFrom('interface', 'ipv4', 'IPv6', 'cleangateway', 'dst', 'gw', '__proto__', 'toString');
const leaf = fc.oneof(fc.constantFrom('eth0', '', 'a*', '10.0.0.0/8', '10.0.0.1', null, true, 1), fc.string());
const nearMiss = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value')),
  ),
})).value;
const text = fc.oneof(
  fc.string(),
  fc.json(),
  nearMiss.map((value) => JSON.stringify(value)),
);

test.each(Object.entries(PARSERS))('%s answers any text or refuses it as bad input', (_, parse) => {
  fc.assert(
    fc.property(text, (input) => {
      try {
        parse(input);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(IpamError);
        expect(thrown).toMatchObject({ reason: 'bad-annotation' });
        expect((thrown as IpamError).message).toMatch(/^annotation ipam\.spidernet\.io\//);
        expect((thrown as IpamError).message.length).toBeLessThan(1500);
      }
    }),
    { numRuns: 1000 },
  );
});
