import type { PoolView } from '#agent/views/pool-view.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { explainObjections, type Objected } from '#pkg/pool/objections.ts';
import type { IpRecord, RecordState } from '#pkg/record/ip-record.ts';

/** One family of a call for which every eligible pool is full. */
export interface Exhausted {
  readonly family: Family;
  readonly views: readonly PoolView[];
  readonly objected: readonly Objected[];
}

export interface ExhaustedCall {
  readonly interfaceName: string;
  /** Zero: it did not wait. */
  readonly waitedMs: number;
  /** The records that the pod has on other interfaces. */
  readonly others: readonly IpRecord[];
}

export function exhaustedError(
  exhausted: readonly Exhausted[],
  { interfaceName, waitedMs, others }: ExhaustedCall,
): IpamError {
  const families = exhausted.map(({ family }) => `IPv${family}`).join(' and ');
  const full = exhausted.flatMap(({ views }) =>
    views.length === 0 ? ['its pool is gone'] : views.map((view) => describe(view, others)),
  );
  const objected = exhausted.flatMap((it) => it.objected);
  return new IpamError(
    'pools-exhausted',
    `no free ${families} address for ${interfaceName}${describeWait(waitedMs)}: ${full.join(', ')}`,
    { details: objected.length === 0 ? '' : explainObjections(objected) },
  );
}

function describeWait(waitedMs: number): string {
  if (waitedMs === 0) return '';
  return ` after waiting ${waitedMs < 1_000 ? 'less than 1' : Math.round(waitedMs / 1_000)} s`;
}

/** What a pod that runs does not explain. */
const STATES: Partial<Record<RecordState, string>> = {
  Quarantined: 'in quarantine, because a foreign host answers there',
  Cooling: 'in cooldown',
  Retained: 'kept for absent pods',
  Suspect: 'in doubt',
};

function describe({ pool, usedCount, usable, stateCounts }: PoolView, others: readonly IpRecord[]): string {
  const own = others.filter(({ spec }) => spec.pool.name === pool.name);
  const parts = [
    ...own.map(({ spec }) => `${spec.address} by this pod on ${spec.holder.interface}`),
    ...Object.entries(STATES).flatMap(([state, text]) => {
      const count = stateCounts.get(state as RecordState);
      return count === undefined ? [] : [`${count} ${text}`];
    }),
  ];
  return `${pool.name} ${usedCount}/${usable.size} used${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}
