import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { Ledger } from './ledger.ts';

const PAGE = 500;

/** Page after page, so that a large ledger is never read at once. */
export async function* everyRecord(ledger: Ledger): AsyncGenerator<IpRecord, void> {
  let page = await ledger.list({ limit: PAGE });
  for (;;) {
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    page = await ledger.list({ limit: PAGE, after: last.name });
  }
}
