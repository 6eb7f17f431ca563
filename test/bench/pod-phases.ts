import { type Line, ms } from './report.ts';
import { median, quantile, spread } from './statistics.ts';

/** When a pod was seen in each phase, by the clock of this process. */
export interface PodMarks {
  readonly createdAtMs: number;
  readonly scheduledAtMs?: number;
  readonly networkAtMs?: number;
  readonly runningAtMs?: number;
}

/** kube-burner's phases. Null: an end of the phase was not seen. */
export interface PodTimes {
  /** From the request that creates the pod. */
  readonly runningMs: number | null;
  /** PodScheduled → PodReadyToStartContainers: sandbox and network, the part that is ours. */
  readonly networkMs: number | null;
}

export type Phase = keyof PodTimes;

export const PHASES: Readonly<Record<Phase, string>> = {
  runningMs: 'create → Running',
  networkMs: 'PodScheduled → PodReadyToStartContainers',
};

export function toPodTimes({ createdAtMs, scheduledAtMs, networkAtMs, runningAtMs }: PodMarks): PodTimes {
  return { runningMs: between(createdAtMs, runningAtMs), networkMs: between(scheduledAtMs, networkAtMs) };
}

function between(fromMs: number | undefined, toMs: number | undefined): number | null {
  return fromMs === undefined || toMs === undefined ? null : toMs - fromMs;
}

/** One burst of a subject after the other, and beside each the burst of host-local in the same round. */
export interface Bursts {
  readonly own: readonly (readonly PodTimes[])[];
  readonly base: readonly (readonly PodTimes[])[];
}

export interface PhaseLimit {
  readonly mostRatio: number;
  /** What the subject may take longer in any case. */
  readonly extraMs: number;
}

/** A line for one quantile of one phase. Pods whose phase was not seen are told, and count neither as fast nor as slow. */
export function phaseLine(what: string, phase: Phase, share: number, { own, base }: Bursts, limit?: PhaseLimit): Line {
  const unseen = own.flat().filter((it) => it[phase] === null).length;
  const label = { what: `${what}, ${PHASES[phase]}, p${share * 100}` };
  const missing = unseen === 0 ? '' : `; MISSING for ${unseen} of ${own.flat().length} pods`;
  const values = own.map((burst) => quantile(seenOf(burst, phase), share));
  if (values.some(Number.isNaN)) return { ...label, value: `not seen${missing}` };
  const value = `${ms(median(values))} ± ${(spread(values) * 100).toFixed(0)} %${missing}`;
  if (own === base) return { ...label, value };
  const baseline = base.map((burst) => quantile(seenOf(burst, phase), share));
  const extraMs = limit?.extraMs ?? 0;
  const ratio = median(values.map((it, round) => (it - extraMs) / (baseline[round] ?? Number.NaN)));
  const less = extraMs === 0 ? '' : `, less ${extraMs} ms`;
  return {
    ...label,
    value,
    against: `${ratio.toFixed(3)} of host-local${less}`,
    ...(limit === undefined ? {} : { limit: `at most ${limit.mostRatio}`, isMet: ratio <= limit.mostRatio }),
  };
}

function seenOf(burst: readonly PodTimes[], phase: Phase): number[] {
  return burst.map((it) => it[phase]).filter((it) => it !== null);
}
