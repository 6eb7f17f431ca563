import { parseDurationSeconds } from '#pkg/decode/duration.ts';
import { asParsed, childPath, type Fields, ifPresent } from '#pkg/decode/untrusted.ts';

export const REUSE_COOLDOWN = 'ipledger.io/reuse-cooldown';
const LONGEST_SECONDS = 7 * 24 * 3600;

/** How long a released address of the pool is not given out, from the annotations of the pool. */
export function decodeCooldownSeconds(annotations: Fields): number {
  const path = childPath('metadata.annotations', REUSE_COOLDOWN);
  return (
    ifPresent(annotations[REUSE_COOLDOWN], (value) =>
      asParsed(value, path, 32, (text) => parseDurationSeconds(text, LONGEST_SECONDS)),
    ) ?? 0
  );
}
