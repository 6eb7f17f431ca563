const MOST = 2n ** 63n - 1n;

/** A number that `JSON.stringify` writes in full; a JavaScript number above 2^53 would lose its last digits, and 2^63 is refused. */
export type JsonCount = number | { readonly rawJSON: string };

const json = JSON as typeof JSON & { rawJSON(text: string): { readonly rawJSON: string } };

/** A count for a status field of 64 bits. It saturates at 2^63 − 1. */
export function toJsonCount(count: bigint): JsonCount {
  const saturated = count > MOST ? MOST : count;
  return saturated <= Number.MAX_SAFE_INTEGER ? Number(saturated) : json.rawJSON(String(saturated));
}

/** The count as a later read returns it: above 2^53 the nearest JavaScript number. */
export function asRead(count: JsonCount): number {
  return typeof count === 'number' ? count : Number(count.rawJSON);
}
