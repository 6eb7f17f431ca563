import type { Outcome } from '#pkg/kube/objects/outcome.ts';

/** The object of a call that must succeed. */
export async function sure<T>(call: Promise<Outcome<T>>): Promise<T> {
  const outcome = await call;
  if (!outcome.ok) throw new Error(`${outcome.because}: ${outcome.message}`);
  return outcome.object;
}
