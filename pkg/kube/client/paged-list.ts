import type { Page } from '#pkg/kube/objects/object-list.ts';
import { failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import { type ByteBudget, TIMEOUT_MS } from './caller.ts';

const MOST_RESTARTS = 3;
const MOST_PAGES = 10_000;
const LIST_TIMEOUT_MS = 120_000;

/** Parameters of one request of a list. Without a limit it asks for all objects at once. */
type Paging = {
  readonly limit: number | undefined;
  readonly continue: string | undefined;
};

/** The limits of one page, from what the whole list has left. */
interface PageLimits {
  readonly timeoutMs: number;
  readonly budget: ByteBudget;
}

type GetPage<P> = (paging: Paging, limits: PageLimits) => Promise<Outcome<P>>;

export interface ListLimits {
  /** Objects per request; 0 for all in one. */
  readonly pageSize: number;
  /** For all pages and restarts together. Without it a page has the time of any call, and the list two minutes. */
  readonly timeoutMs: number | undefined;
  /** For each page. Without it one page may take all the time of the list. */
  readonly pageTimeoutMs: number | undefined;
  readonly maxBytes: number;
}

/**
 * All pages of one consistent list. If the snapshot has expired (410), the list starts again, and finally asks for all objects at
 * once, which cannot expire.
 */
export async function readAllPages<P extends Page<unknown>>(
  timing: Timing,
  { pageSize, timeoutMs, pageTimeoutMs, maxBytes }: ListLimits,
  getPage: GetPage<P>,
): Promise<Outcome<P[]>> {
  const listTimeoutMs = timeoutMs ?? LIST_TIMEOUT_MS;
  const deadlineMs = timing.nowMs() + listTimeoutMs;
  const getInTime = async (paging: Paging, budget: ByteBudget): Promise<Outcome<P>> => {
    const leftMs = deadlineMs - timing.nowMs();
    if (leftMs <= 0) return failure('Unknown', `the list did not end within ${listTimeoutMs} ms`);
    return getPage(paging, { budget, timeoutMs: Math.min(leftMs, pageTimeoutMs ?? timeoutMs ?? TIMEOUT_MS) });
  };
  for (let restart = 0; restart < MOST_RESTARTS; restart += 1) {
    const outcome = await readPages(pageSize, { leftBytes: maxBytes }, getInTime);
    if (outcome.ok || outcome.because !== 'Expired') return outcome;
  }
  return readPages(0, { leftBytes: maxBytes }, getInTime);
}

async function readPages<P extends Page<unknown>>(
  pageSize: number,
  budget: ByteBudget,
  getPage: (paging: Paging, budget: ByteBudget) => Promise<Outcome<P>>,
): Promise<Outcome<P[]>> {
  const limit = pageSize === 0 ? undefined : pageSize;
  const pages: P[] = [];
  const asked = new Set<string>();
  let next: string | undefined;
  do {
    const page = await getPage({ limit, continue: next }, budget);
    if (!page.ok) return page;
    pages.push(page.object);
    next = page.object.continue || undefined;
    if (next === undefined) return { ok: true, object: pages };
    if (asked.has(next)) return failure('BadAnswer', 'a list that goes on where it has been before');
    asked.add(next);
  } while (pages.length < MOST_PAGES);
  return failure('BadAnswer', 'a list without an end');
}
