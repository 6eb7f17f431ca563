import { setImmediate as breathe } from 'node:timers/promises';

const SLICE_MS = 8;

/** Works on many items without holding up the event loop: whatever else waits has a turn after each slice of a few milliseconds. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void, signal?: AbortSignal): Promise<void> {
  let startedMs = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - startedMs < SLICE_MS) continue;
    await breathe();
    if (signal?.aborted) return;
    startedMs = performance.now();
  }
}
