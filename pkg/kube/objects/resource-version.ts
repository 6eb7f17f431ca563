/** Whether `a` was written before `b`. A version that is not a number cannot be compared and counts as later. */
export function isOlder(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && BigInt(a) < BigInt(b);
}

function isNumber(text: string): boolean {
  return /^\d{1,40}$/.test(text);
}
