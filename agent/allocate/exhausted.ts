import type { PoolView } from '#agent/views/pool-view.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { explainObjections, type Objected } from '#pkg/pool/objections.ts';

/** One family of a call for which every eligible pool is full. */
export interface Exhausted {
  readonly family: Family;
  readonly views: readonly PoolView[];
  readonly objected: readonly Objected[];
}

export function exhaustedError(interfaceName: string, exhausted: readonly Exhausted[], waitedMs: number): IpamError {
  const families = exhausted.map(({ family }) => `IPv${family}`).join(' and ');
  const full = exhausted.flatMap(({ views }) => (views.length === 0 ? ['its pool is gone'] : views.map(describe)));
  const objected = exhausted.flatMap((it) => it.objected);
  const lines = objected.length === 0 ? full : [...full, explainObjections(objected)];
  const waited = waitedMs < 1000 ? '' : ` after waiting ${Math.round(waitedMs / 1000)} s`;
  return new IpamError(
    'pools-exhausted',
    `no free ${families} address for ${interfaceName}${waited}: ${full.join(', ')}`,
    {
      details: lines.join('\n'),
    },
  );
}

function describe(view: PoolView): string {
  return `${view.pool.name} ${view.usedCount}/${view.usable.size} used`;
}
