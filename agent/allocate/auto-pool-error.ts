import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import { explainObjections } from '#pkg/pool/objections.ts';
import type { FamilyPlan } from './plan.ts';

/** A pool that is not there, or not usable, and what is known about it; null: nothing. */
export interface MissingPool {
  readonly plan: FamilyPlan & { readonly autoPool: AutoPoolKey };
  readonly why: string | null;
}

/** The pools of an application were not there in time. */
export function missingPoolError(missing: readonly MissingPool[], waitedMs: number): IpamError {
  const families = missing.map(({ plan }) => `IPv${plan.family}`).join(' and ');
  const nic = missing[0]?.plan.autoPool.interface ?? '';
  const lines = missing.map(describe);
  const message = `no ${families} address for ${nic}${waitedText(waitedMs)}: ${lines.join('; ')}`;
  return new IpamError('auto-pool-missing', message, { details: lines.join('\n') });
}

/** The pool of the application is full: what the controller says about it belongs to the error. */
export function withShortages(error: IpamError, said: readonly Pick<MissingPool, 'plan' | 'why'>[]): IpamError {
  const lines = said.map(({ plan: { autoPool }, why }) => `${wanted(autoPool)}${why === null ? '' : `: ${why}`}`);
  const details = [error.details, ...lines].filter((line) => line !== '').join('\n');
  return new IpamError(error.reason, `${error.message}; ${lines.join('; ')}`, { details, cause: error });
}

/** Without this sentence the reader of the error would look for a fault in the pod. */
const SILENCE =
  'the controller has not said why; is it running, and does the template of the application name this subnet?';

function describe({ plan: { autoPool, objected }, why }: MissingPool): string {
  const state = objected.length === 0 ? 'there is no pool yet' : explainObjections(objected).replaceAll('\n', ', ');
  return `${wanted(autoPool)}: ${state}; ${why ?? SILENCE}`;
}

function wanted({ application, subnet, family }: AutoPoolKey): string {
  const { kind, namespace, name } = application;
  return `IPv${family} pool of ${kind} ${namespace}/${name} from subnet ${subnet}`;
}

function waitedText(waitedMs: number): string {
  return waitedMs < 1000 ? '' : ` after waiting ${Math.round(waitedMs / 1000)} s`;
}
