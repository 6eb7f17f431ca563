import type { Page } from './object-list.ts';
import { failure, type Outcome } from './outcome.ts';

const MOST_RESTARTS = 3;
const MOST_PAGES = 10_000;

/** Parameters of one request of a list; without a limit it asks for everything at once. */
type Paging = {
  readonly limit: number | undefined;
  readonly continue: string | undefined;
};

type GetPage<P> = (paging: Paging) => Promise<Outcome<P>>;

/**
 * All pages of one consistent list. When the snapshot is too old to go on (410) the list starts anew, and in the end
 * asks for everything at once, which cannot expire.
 */
export async function readAllPages<P extends Page<unknown>>(
  pageSize: number,
  getPage: GetPage<P>,
): Promise<Outcome<P[]>> {
  for (let restart = 0; restart < MOST_RESTARTS; restart += 1) {
    const outcome = await readPages(pageSize, getPage);
    if (outcome.ok || outcome.because !== 'Expired') return outcome;
  }
  return readPages(0, getPage);
}

async function readPages<P extends Page<unknown>>(pageSize: number, getPage: GetPage<P>): Promise<Outcome<P[]>> {
  const limit = pageSize === 0 ? undefined : pageSize;
  const pages: P[] = [];
  let next: string | undefined;
  do {
    const page = await getPage({ limit, continue: next });
    if (!page.ok) return page;
    pages.push(page.object);
    next = page.object.continue || undefined;
  } while (next !== undefined && pages.length < MOST_PAGES);
  return next === undefined ? { ok: true, object: pages } : failure('BadAnswer', 'a list without an end');
}
