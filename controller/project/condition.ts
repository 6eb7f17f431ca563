import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** metav1.Condition. */
interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export type WantedCondition = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions to write: `wanted` in its order, each with the time of its last change of status, then the conditions of types that
 * are not `ours`. Conditions of our types that are not wanted are dropped.
 */
export function settleConditions(
  before: unknown,
  wanted: readonly WantedCondition[],
  { ours, now }: { readonly ours: readonly string[]; readonly now: Date },
): readonly unknown[] {
  const found = Array.isArray(before) ? before.filter(isMap) : [];
  const settled = wanted.map((condition) => {
    const old = found.find(({ type }) => type === condition.type);
    return { ...condition, lastTransitionTime: sinceWhen(old, condition) ?? toMetaTime(now) };
  });
  return [...settled, ...found.filter(({ type }) => typeof type === 'string' && !ours.includes(type))];
}

function sinceWhen(old: Readonly<Record<string, unknown>> | undefined, { status }: WantedCondition): string | null {
  const since = old?.['status'] === status ? old['lastTransitionTime'] : undefined;
  return typeof since === 'string' ? since : null;
}

/** In whole seconds, like metav1.Time. */
function toMetaTime(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}
