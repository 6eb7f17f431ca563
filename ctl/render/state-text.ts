import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { toDurationText } from './duration.ts';

/** `Allocated`, `Cooling(4m)`: with the time that is left where the state ends by itself. */
export function toStateText(spec: RecordSpec, nowMs: number): string {
  const untilMs = spec.until === undefined ? Number.NaN : Date.parse(spec.until);
  return Number.isNaN(untilMs) ? spec.state : `${spec.state}(${toDurationText(untilMs - nowMs)})`;
}
