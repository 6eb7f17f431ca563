import type { Page } from './object-list.ts';
import type { Outcome } from './outcome.ts';

const MOST_RESTARTS = 3;

/** One request of a list: `limit` 0 asks for everything at once. */
type GetPage<P> = (limit: number, continueAt: string) => Promise<Outcome<P>>;

/**
 * All pages of one consistent list. When the snapshot is too old to go on (410) the list starts anew, and in the end
 * asks for everything at once, which cannot expire.
 */
export async function readAllPages<P extends Page<unknown>>(limit: number, getPage: GetPage<P>): Promise<Outcome<P[]>> {
  for (let restart = 0; restart < MOST_RESTARTS; restart += 1) {
    const outcome = await readPages(limit, getPage);
    if (outcome.ok || outcome.because !== 'Expired') return outcome;
  }
  return readPages(0, getPage);
}

async function readPages<P extends Page<unknown>>(limit: number, getPage: GetPage<P>): Promise<Outcome<P[]>> {
  const pages: P[] = [];
  let continueAt = '';
  do {
    const page = await getPage(limit, continueAt);
    if (!page.ok) return page;
    pages.push(page.object);
    continueAt = page.object.continue;
  } while (continueAt !== '');
  return { ok: true, object: pages };
}
