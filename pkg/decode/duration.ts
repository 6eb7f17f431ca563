import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';

const DURATION = /^(?=\d)(?:(\d{1,7})h)?(?:(\d{1,7})m)?(?:(\d{1,7})s)?$/;

/** Reads `90s`, `5m`, `1h30m`: Go's notation in whole hours, minutes and seconds. */
export function parseDurationSeconds(text: string, mostSeconds: number): number {
  const match = DURATION.exec(text);
  if (match === null) throw new IpamError('bad-input', `${quote(text)} is not a duration such as 90s, 5m or 1h30m`);
  const [hours, minutes, seconds] = match.slice(1).map((digits) => Number(digits ?? 0));
  const total = (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0);
  if (total > mostSeconds) throw new IpamError('bad-input', `${text} is more than the allowed ${mostSeconds / 3600}h`);
  return total;
}
