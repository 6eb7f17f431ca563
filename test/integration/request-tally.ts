import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, vi } from 'vitest';
import { sumCounter } from '#test/support/api-metrics.ts';
import type { RunningServer } from '#test/support/api-server.ts';

interface RequestCounts {
  readonly writes: number;
  /** By kind, so that a read too many has a name. */
  readonly gets: Readonly<Record<string, number>>;
  readonly lists: number;
  readonly endedWatches: number;
}

interface Tally {
  counts(): Promise<RequestCounts>;
  /** The API server counts a request after its answer, so the last ones may not be counted yet. */
  settled(): Promise<RequestCounts>;
  /** Reads no objects, which would be counted. */
  afterWrites(expected: number): Promise<RequestCounts>;
}

const LONG = { timeout: 120_000, interval: 250 };
const LOOK_EVERY_MS = 500;

/** The requests that the API server has answered: writes of the first kinds, reads of all of them. */
export function tallyRequests(
  server: Pick<RunningServer, 'metrics'>,
  written: readonly string[],
  readToo: readonly string[],
): Tally {
  const counts = async () => {
    const metrics = await server.metrics();
    const count = (resource: string, verb: string) =>
      sumCounter(metrics, 'apiserver_request_total', { verb, resource });
    const sum = (kinds: readonly string[], verbs: readonly string[]) =>
      kinds.flatMap((kind) => verbs.map((verb) => count(kind, verb))).reduce((a, b) => a + b, 0);
    const all = [...written, ...readToo];
    return {
      writes: sum(written, ['POST', 'PATCH', 'PUT', 'DELETE']),
      gets: Object.fromEntries(all.map((kind) => [kind, count(kind, 'GET')])),
      lists: sum(all, ['LIST']),
      endedWatches: sum(all, ['WATCH']),
    };
  };
  const settled = async () => {
    for (let last = await counts(); ; ) {
      await wait(LOOK_EVERY_MS);
      const now = await counts();
      if (isDeepStrictEqual(now, last)) return now;
      last = now;
    }
  };
  const afterWrites = async (expected: number) => {
    await vi.waitFor(async () => expect((await counts()).writes).toBeGreaterThanOrEqual(expected), LONG);
    return settled();
  };
  return { counts, settled, afterWrites };
}

/** A watch that ended, on a slow machine or by its time, asks with one LIST whether etcd was restored. Nothing else is read. */
export function expectNoReads(now: RequestCounts, before: RequestCounts): void {
  expect(now.gets).toEqual(before.gets);
  expectNoLists(now, before);
}

export function expectNoLists(now: RequestCounts, before: RequestCounts): void {
  expect(now.lists - before.lists).toBeLessThanOrEqual(now.endedWatches - before.endedWatches);
}
