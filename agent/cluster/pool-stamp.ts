import type { ObjectMeta } from '#pkg/kube/objects/kube-object.ts';
import type { Labels } from '#pkg/pool/request.ts';

/** The domains of the labels and annotations that are read of a pool. */
const READ = ['ipledger.io/', 'spidernet.io/'];

/** Equal for two versions of a pool that differ in nothing that matters here: a status write changes none of it. */
export function stampOf({ uid, generation, deletionTimestamp, labels = {}, annotations = {} }: ObjectMeta): string {
  const isTerminating = deletionTimestamp !== undefined;
  return JSON.stringify([uid, generation, isTerminating, onlyRead(labels), onlyRead(annotations)]);
}

function onlyRead(texts: Labels): [string, string][] {
  return Object.entries(texts)
    .filter(([key]) => READ.some((prefix) => key.startsWith(prefix) || key.includes(`.${prefix}`)))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
