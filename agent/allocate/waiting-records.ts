import { parseAddress } from '#pkg/ip/address.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** The states of an address that a sticky holder may take over, the surest first. */
const WAITING: readonly IpRecord['spec']['state'][] = ['Retained', 'Suspect'];

interface Waiting {
  readonly record: IpRecord;
  readonly pool: Pool;
}

/** The records that wait for this holder and that its pools may serve: Retained before Suspect, then in the order of the pools. */
export function waitingFor(pools: readonly Pool[], listed: readonly IpRecord[]): Waiting[] {
  const servable = listed.flatMap((record) => {
    const pool = poolOf(record, pools);
    return pool !== undefined && WAITING.includes(record.spec.state) ? [{ record, pool }] : [];
  });
  const placeOf = ({ record, pool }: Waiting) => [WAITING.indexOf(record.spec.state), pools.indexOf(pool)] as const;
  return servable.toSorted((a, b) => {
    const [stateOfA, poolOfA] = placeOf(a);
    const [stateOfB, poolOfB] = placeOf(b);
    return stateOfA - stateOfB || poolOfA - poolOfB || compareText(a.record.name, b.record.name);
  });
}

/** Only pools that may serve this call now, and only if they still have the address. */
export function poolOf({ spec }: IpRecord, pools: readonly Pool[]): Pool | undefined {
  const pool = pools.find(({ name }) => name === spec.pool.name);
  const isInside = pool?.domain === spec.domain && pool.addresses.contains(parseAddress(spec.address).value);
  return isInside ? pool : undefined;
}
