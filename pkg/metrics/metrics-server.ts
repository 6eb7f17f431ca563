import type { MetricSet } from './metric-set.ts';
import { type PageServer, type PageServerOptions, startPageServer } from './page-server.ts';

/** Whatever path a scrape asks for, as with Spiderpool. */
export async function startMetricsServer(
  metrics: MetricSet,
  at: Omit<PageServerOptions, 'answer'>,
): Promise<PageServer> {
  const answer = async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.text() });
  return await startPageServer({ ...at, answer });
}
