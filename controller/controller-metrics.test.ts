import { expect, test, vi } from 'vitest';
import type { Sample } from '#controller/project/pool-gauges.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { ControllerMetrics } from './controller-metrics.ts';

const SAMPLES: readonly Sample[] = [
  { name: 'spiderpool_total_ippool_counts', labels: {}, value: 3 },
  { name: 'ipledger_pool_ready', labels: { pool: 'a', reason: 'Serving' }, value: 1 },
];

test('a scrape computes the gauges once, and only the leader has them', async () => {
  const set = new MetricSet();
  const metrics = new ControllerMetrics(set);
  const sample = vi.fn(async () => SAMPLES);
  metrics.sampleFrom(sample);
  const text = await set.text();
  expect(text).toContain('spiderpool_total_ippool_counts 3');
  expect(text).toContain('ipledger_pool_ready{pool="a",reason="Serving"} 1');
  expect(sample).toHaveBeenCalledTimes(1);
  metrics.sampleFrom(null);
  expect(await set.text()).not.toContain('spiderpool_total_ippool_counts 3');
});
