import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildIpAddress, buildPoolFacts } from '#test/support/build-claim.ts';
import { describeUnaskedNumber } from './unasked-number.ts';

const FACTS = buildPoolFacts({ ips: ['10.0.0.1-10.0.0.4'] });

test.each([
  { name: 'what the pool would give', facts: FACTS, address: '10.0.0.1', says: null },
  {
    name: 'a namespace that the pool does not serve',
    facts: buildPoolFacts({ ips: ['10.0.0.1-10.0.0.4'], namespaceNames: ['dev'] }),
    address: '10.0.0.1',
    says: /^IPAddress prod\/vm-0 took 10\.0\.0\.1, which pool lab would not give it: .*namespaceName.*ipledgerctl release 10\.0\.0\.1$/,
  },
  {
    name: 'a reserved number',
    facts: { ...FACTS, reserved: IntervalSet.of([parseRange('10.0.0.2')]) },
    address: '10.0.0.2',
    says: /it is reserved or not among the addresses of the pool/,
  },
  { name: 'a number beside the ranges', facts: FACTS, address: '10.0.0.200', says: /it is reserved or not among/ },
])('$name: $says', ({ facts, address, says }) => {
  const said = describeUnaskedNumber(buildIpAddress({ address: parseAddress(address) }), facts, {});
  if (says === null) expect(said).toBeNull();
  else expect(said).toMatch(says);
});
