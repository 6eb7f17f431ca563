const WIDTH = 20;

/** `[####----------------] 20%`. Only an empty pool shows 0 % and only a full pool shows 100 %: rounding never leads there. */
export function toUsageBar(used: bigint, free: bigint): string {
  const usable = used + free;
  if (usable === 0n) return `[${'-'.repeat(WIDTH)}] none`;
  const filled = Number((used * BigInt(WIDTH)) / usable);
  const marks = used > 0n ? Math.max(filled, 1) : 0;
  return `[${'#'.repeat(marks)}${'-'.repeat(WIDTH - marks)}] ${toPercent(used, usable)}`;
}

function toPercent(used: bigint, usable: bigint): string {
  const percent = (used * 100n) / usable;
  if (percent === 0n && used > 0n) return '<1%';
  return `${percent}%`;
}
