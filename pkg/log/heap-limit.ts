import { getHeapStatistics } from 'node:v8';

/** What V8 was started with, in MiB. */
export function heapLimitMb(): number {
  return Math.round(getHeapStatistics().heap_size_limit / (1 << 20));
}
