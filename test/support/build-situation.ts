import type { AutoPoolPlan } from '#controller/allot/plan-auto-pools.ts';
import type { RecordInSubnet, SubnetPool, SubnetSituation, Wanted } from '#controller/allot/subnet-situation.ts';
import type { SubnetLimits } from '#pkg/autopool/subnet-limits.ts';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange, parseRange } from '#pkg/ip/range.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { autoKey, buildAutoPool, WEB } from './build-auto-pool.ts';
import { buildPool } from './build-pool.ts';

const CREATED = '2026-11-18T10:00:00Z';

export const NO_LIMITS: SubnetLimits = { allowedNamespaces: null, mostPerNamespace: null };

function toSet(ranges: readonly string[]): IntervalSet {
  return IntervalSet.of(ranges.map(parseRange));
}

function toRanges(addresses: IntervalSet): string[] {
  return addresses.intervals().map((interval) => formatRange(4, interval));
}

/** The key of an application by its name; its uid is derived from `generation`. */
export function keyOf(name: string, generation = 1, overrides: Partial<AutoPoolKey> = {}): AutoPoolKey {
  return autoKey({ application: { ...WEB, name, uid: `0-0-${name}${generation}` }, ...overrides });
}

export function wants(key: AutoPoolKey, count: number, more: Partial<Wanted> = {}): Wanted {
  return { key, count, number: { kind: 'fixed', count }, reclaim: true, ...more };
}

/** A pool as `wants(key, count)` leaves it. */
export function poolOf(
  key: AutoPoolKey,
  name: string,
  ips: readonly string[],
  more: {
    readonly number?: string;
    readonly reclaim?: boolean;
    readonly dropped?: readonly string[];
    readonly createdAt?: string;
  } = {},
): SubnetPool {
  const pool = buildAutoPool(key, { name, ips, ...(more.reclaim === undefined ? {} : { reclaim: more.reclaim }) });
  const { number = String(pool.addresses.size), dropped = [], createdAt = CREATED } = more;
  return { pool, createdAt, number, dropped: toSet(dropped) };
}

export function manualPool(name: string, ips: readonly string[], createdAt = CREATED): SubnetPool {
  return { pool: buildPool({ name, ips }), createdAt, number: null, dropped: IntervalSet.EMPTY };
}

export function record(address: string, pool: string, state: RecordState = 'Allocated'): RecordInSubnet {
  return { value: parseAddress(address).value, pool, state };
}

interface Overrides extends Partial<Omit<SubnetSituation, 'subnet' | 'reserved'>> {
  readonly ips?: readonly string[];
  readonly spec?: object;
  readonly metadata?: object;
  readonly reserved?: readonly string[];
}

/** Without overrides: the subnet `office` with the addresses 10.0.0.10 to 10.0.0.29, of which nobody has anything. */
export function buildSituation(overrides: Overrides = {}): SubnetSituation {
  const { ips = ['10.0.0.10-10.0.0.29'], spec, metadata, reserved = [], ...others } = overrides;
  const pools = others.pools ?? [];
  return {
    subnet: decodeSpiderSubnet({
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderSubnet',
      metadata: { name: 'office', ...metadata },
      spec: { subnet: '10.0.0.0/24', ips, ...spec },
    }),
    limits: NO_LIMITS,
    wanted: [],
    unclear: [],
    gone: [],
    otherRanges: IntervalSet.EMPTY,
    records: [],
    isPoolName: (name) => pools.some(({ pool }) => pool.name === name),
    isHeldBy: () => false,
    ...others,
    pools,
    reserved: toSet(reserved),
  };
}

/** A plan as a table shows it: `create auto4-web 10.0.0.10-10.0.0.14`. */
export function describePlan({ steps, shortages }: AutoPoolPlan): string[] {
  return [
    ...steps.map((step) =>
      step.do === 'delete' ? `delete ${step.name}` : [step.do, step.name, ...toRanges(step.addresses)].join(' '),
    ),
    ...shortages.map(({ application, why }) => `${application.name}: ${why}`),
  ];
}
