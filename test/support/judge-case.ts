import { expect } from 'vitest';
import { COLLECT_DEFAULTS, type CollectSettings } from '#controller/judge/collect-settings.ts';
import type { Evidence } from '#controller/judge/evidence.ts';
import { judge } from '#controller/judge/judge.ts';
import type { Verdict } from '#controller/judge/verdict.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildEvidence, buildPodRecord, NOW_MS } from './build-evidence.ts';

/** A row of a table about the judge: the evidence and the expected verdict. */
export interface JudgeCase {
  readonly name: string;
  readonly record?: IpRecord;
  readonly evidence: Partial<Evidence>;
  readonly settings?: Partial<CollectSettings>;
  readonly verdict: Verdict;
}

export function checkVerdict({ record = buildPodRecord(), evidence, settings = {}, verdict }: JudgeCase): void {
  expect(judge(record, buildEvidence(evidence), { ...COLLECT_DEFAULTS, ...settings })).toEqual(verdict);
}

export const free = (cause: Extract<Verdict, { do: 'free' }>['cause']): Verdict => ({ do: 'free', cause });
export const suspect = (cause: Extract<Verdict, { do: 'suspect' }>['cause']): Verdict => ({ do: 'suspect', cause });
/** With proof that its sandbox is gone, or in doubt; `for-next`: its next pod is there. */
export const retain = (how: 'proven' | 'in-doubt', forWhom: 'later' | 'for-next' = 'later'): Verdict => ({
  do: 'retain',
  cause: 'pod-gone',
  isProven: how === 'proven',
  isAwaited: forWhom === 'for-next',
});
export const secondsAgo = (seconds: number): number => NOW_MS - seconds * 1_000;
