import type { MetricSet } from './metric-set.ts';
import { type PageServer, type PageServerOptions, type ServedPage, startPageServer } from './page-server.ts';

/** A page is computed at most once in this time, however many ask for it. */
const KEPT_FOR_MS = 1_000;

/** Whatever path a scrape asks for, as with Spiderpool. */
export async function startMetricsServer(
  metrics: MetricSet,
  at: Omit<PageServerOptions, 'answer'>,
  nowMs: () => number = () => performance.now(),
): Promise<PageServer> {
  let page: Promise<ServedPage> | null = null;
  let computedAtMs = Number.NEGATIVE_INFINITY;
  const compute = async (): Promise<ServedPage> => {
    try {
      return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
    } finally {
      computedAtMs = nowMs();
    }
  };
  const answer = (): Promise<ServedPage> => {
    if (page === null || nowMs() - computedAtMs >= KEPT_FOR_MS) {
      computedAtMs = Number.POSITIVE_INFINITY; // until it is there
      page = compute();
    }
    return page;
  };
  return await startPageServer({ ...at, answer });
}
