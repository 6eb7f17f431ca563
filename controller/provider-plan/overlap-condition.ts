import { settleConditions } from '#controller/project/condition.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** With our domain in front: the conditions of a NetworkNamespace are those of several operators. */
const OVERLAP = 'ipledger.io/Overlap';
const LONGEST_MESSAGE = 4_000;

interface Observed {
  /** `status.conditions` as it is stored. */
  readonly before: unknown;
  /** Which addresses it shares with another pool; empty for none. */
  readonly note: string;
  readonly generation: number;
  readonly now: Date;
}

/** The conditions to write, with those of others as they are; null if ours is right. It is there only while it is true. */
export function planOverlapCondition({ before, note, generation, now }: Observed): readonly unknown[] | null {
  const message = note.slice(0, LONGEST_MESSAGE);
  const found = Array.isArray(before) ? before.filter(isMap).find(({ type }) => type === OVERLAP) : undefined;
  const isRight = message === '' ? found === undefined : found?.['status'] === 'True' && found['message'] === message;
  if (isRight) return null;
  const reason = 'SharedAddresses';
  const wanted = { type: OVERLAP, status: 'True' as const, reason, message, observedGeneration: generation };
  return settleConditions(before, message === '' ? [] : [wanted], { ours: [OVERLAP], now });
}
