import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { namespaceMismatch } from '#pkg/pool/objections.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';

/**
 * Why the pool would not give the number of an IPAddress to a claim of its namespace; null if it would. It has a record all the same: a
 * move brings such numbers too, and a machine may have it. But an account that may create IPAddresses can take numbers in this way.
 */
export function describeUnaskedNumber(
  { namespace, name, address }: MachineAddress,
  { pool, reserved }: PoolFacts,
  labels: Labels,
): string | null {
  if (address === null || pool === null) return null;
  const mismatch = namespaceMismatch(pool, { namespace: { name: namespace, labels, annotations: {} } });
  const isUsable = usableAddresses(pool, reserved).contains(address.value);
  const why = mismatch ?? (isUsable ? null : 'it is reserved or not among the addresses of the pool');
  if (why === null) return null;
  const text = formatAddress(address);
  return `IPAddress ${namespace}/${name} took ${text}, which pool ${pool.name} would not give it: ${why}; if no machine has it, delete the IPAddress and run: ipledgerctl release ${text}`;
}
