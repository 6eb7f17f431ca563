const LONGEST_PLAIN_COUNT = 10_000_000n;
const NEAR = 65_536n;

/** `254`, `2^64`, `2^64-3`: exact as long as that can be read, else the nearest power, `~2^63.6`. */
export function toCountText(count: bigint): string {
  if (count < LONGEST_PLAIN_COUNT) return String(count);
  const floor = count.toString(2).length - 1;
  for (const power of [floor, floor + 1]) {
    const difference = count - (1n << BigInt(power));
    if (difference === 0n) return `2^${power}`;
    if (difference > -NEAR && difference < NEAR) return `2^${power}${difference > 0n ? '+' : ''}${difference}`;
  }
  return `~2^${(floor + Math.log2(leadingFraction(count, floor))).toFixed(1)}`;
}

/** count / 2^floor, between 1 and 2, by the leading bits only: the whole count does not fit a double. */
function leadingFraction(count: bigint, floor: number): number {
  const bits = 20;
  return Number(count >> BigInt(floor - bits)) / 2 ** bits;
}
