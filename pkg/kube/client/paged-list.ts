import type { Page } from '#pkg/kube/objects/object-list.ts';
import { type Failure, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import { type ByteBudget, TIMEOUT_MS } from './caller.ts';
import { PageSize } from './page-size.ts';

/** How large the pages of each try are: the fewer there are, the sooner the list ends. */
const PAGE_FACTORS = [1, 2, 8];
const MOST_PAGES = 100_000;
const LIST_TIMEOUT_MS = 120_000;

/** Parameters of one request of a list. Without a limit it asks for all objects at once. */
export type Paging = {
  readonly limit: number | undefined;
  readonly continue: string | undefined;
};

/** The limits of one page. */
export interface PageLimits {
  readonly timeoutMs: number;
  readonly budget: ByteBudget;
}

type GetPage<P> = (paging: Paging, limits: PageLimits) => Promise<Outcome<P>>;

/** Where the pages of a list go, one after the other. */
export interface PageSink<P> {
  /** Called before the first page, and again if the list starts anew: the pages taken before belong to an older list. */
  begin(): void;
  /** The next page is asked for when it is done. */
  take(page: P): void | Promise<void>;
}

export interface ListLimits {
  /** Objects per request; 0 for all in one. Without it pages have about 1 MiB. */
  readonly pageSize: number | undefined;
  /** The time of all pages and restarts together. Without it a page has the time of any call, and the list two minutes. */
  readonly timeoutMs: number | undefined;
  /** The time of each page. Without it one page may take all the time of the list. */
  readonly pageTimeoutMs: number | undefined;
  readonly maxPageBytes: number;
  /** The limit of all pages together; a list that is not kept has no such limit. */
  readonly maxBytes: number;
}

/**
 * Reads one consistent list page by page, and returns its resourceVersion. If the snapshot has expired (410), the list starts
 * again with larger pages, and finally asks for all objects at once, which cannot expire. A page that is too large is asked for in smaller ones.
 */
export async function readPages<P extends Page<unknown>>(
  timing: Timing,
  limits: ListLimits,
  getPage: GetPage<P>,
  sink: PageSink<P>,
): Promise<Outcome<string>> {
  const listTimeoutMs = limits.timeoutMs ?? LIST_TIMEOUT_MS;
  const pageTimeoutMs = limits.pageTimeoutMs ?? limits.timeoutMs ?? TIMEOUT_MS;
  const deadlineMs = timing.nowMs() + listTimeoutMs;
  const getInTime = async (paging: Paging, budget: ByteBudget): Promise<Outcome<P>> => {
    const leftMs = deadlineMs - timing.nowMs();
    if (leftMs <= 0) return failure('Unknown', `the list did not end within ${listTimeoutMs} ms`);
    return getPage(paging, { budget, timeoutMs: Math.min(leftMs, pageTimeoutMs) });
  };
  for (const factor of PAGE_FACTORS) {
    const outcome = await readOnce(new PageSize(limits.pageSize, factor), limits, getInTime, sink);
    if (outcome.ok || outcome.because !== 'Expired') return outcome;
  }
  return readOnce(new PageSize(0), limits, getInTime, sink);
}

async function readOnce<P extends Page<unknown>>(
  size: PageSize,
  { maxPageBytes, maxBytes }: ListLimits,
  getPage: (paging: Paging, budget: ByteBudget) => Promise<Outcome<P>>,
  sink: PageSink<P>,
): Promise<Outcome<string>> {
  const asked = new Set<string>();
  let next: string | undefined;
  let resourceVersion: string | undefined;
  let leftBytes = maxBytes;
  sink.begin();
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const allowedBytes = Math.min(maxPageBytes, leftBytes);
    const budget = { leftBytes: allowedBytes };
    const page = await getPage({ limit: size.limit, continue: next }, budget);
    if (!page.ok) {
      if (page.because !== 'TooLarge') return page;
      if (leftBytes < maxPageBytes) return failure('TooLarge', `the list is larger than ${maxBytes} bytes`);
      if (!size.shrink()) return tooLarge(size, maxPageBytes);
      continue;
    }
    const { items, continue: token } = page.object;
    const bytes = allowedBytes - budget.leftBytes;
    leftBytes -= bytes;
    size.learn(items.length, bytes);
    resourceVersion ??= page.object.resourceVersion;
    await sink.take(page.object);
    if (token === '') return { ok: true, object: resourceVersion };
    if (asked.has(token)) return failure('BadAnswer', 'a list that goes on where it has been before');
    asked.add(token);
    next = token;
  }
  return failure('BadAnswer', 'a list without an end');
}

function tooLarge({ limit }: PageSize, maxPageBytes: number): Failure {
  const what = limit === undefined ? 'the list in one piece' : 'a page with a single object';
  return failure('TooLarge', `${what} is larger than ${maxPageBytes} bytes`);
}
