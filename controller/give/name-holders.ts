import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { Address } from '#pkg/ip/address.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';

const MOST_NAMED = 3n;

/** Who has the `total` addresses of a pool that is full, for the message that says so. Empty where they are too many to be named. */
export function nameHolders(
  facts: PoolFacts | null,
  total: bigint,
  recordAt: (address: Address) => IpRecord | null,
): string {
  if (facts?.pool == null || total > MOST_NAMED) return '';
  const { pool, reserved } = facts;
  const usable = usableAddresses(pool, reserved);
  const named = usable.intervals().flatMap(({ first, last }) => {
    const values = Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at));
    return values.flatMap((value) => recordAt({ family: pool.family, value }) ?? []);
  });
  return named.map((record) => `${record.spec.address} by ${describeHolder(record)}`).join(', ');
}
