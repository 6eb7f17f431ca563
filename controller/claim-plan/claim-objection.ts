import { type PoolFacts, readiness } from '#controller/project/pool-conditions.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { namespaceMismatch } from '#pkg/pool/objections.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Labels } from '#pkg/pool/request.ts';

/** Why the pool gives no new address to this claim, however many are free; null if it does. */
export function objectToClaim(facts: PoolFacts | null, claim: Claim, namespaceLabels: Labels): string | null {
  if (facts === null) return `pool ${claim.pool} does not exist`;
  const { reason, message, status } = readiness(facts);
  if (facts.pool === null || status !== 'True') return `pool ${claim.pool} is not ready: ${reason}: ${message}`;
  const namespace = { name: claim.namespace, labels: namespaceLabels, annotations: {} };
  const mismatch = namespaceMismatch(facts.pool, { namespace }) ?? reservation(facts.pool);
  return mismatch === null ? null : `pool ${claim.pool}: ${mismatch}`;
}

/** A machine is no pod and has no node, so it can match none of these. */
const FOR_PODS: readonly (readonly [field: string, isSet: (pool: Pool) => boolean])[] = [
  ['podAffinity', ({ podAffinity }) => podAffinity !== null],
  ['nodeName', ({ nodeNames }) => nodeNames.length > 0],
  ['nodeAffinity', ({ nodeAffinity }) => nodeAffinity !== null],
  ['multusName', ({ multusNames }) => multusNames.length > 0],
];

function reservation(pool: Pool): string | null {
  if (pool.auto !== null) return 'it was made for one application of pods';
  const field = FOR_PODS.find(([, isSet]) => isSet(pool))?.[0];
  return field === undefined ? null : `it is reserved for pods by spec.${field}`;
}
