import { expect, test } from 'vitest';
import { REASONS, type Reason } from '#pkg/errors/reasons.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { exportAgentMetrics } from './exported-metrics.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });

async function valuesOf(set: MetricSet): Promise<Map<string, number>> {
  const lines = (await set.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

test('ADDs and DELs of an agent are counted, and their failures by cause', async () => {
  const set = new MetricSet();
  await using made = await startMemoryAgent([POOL], { metrics: exportAgentMetrics(set) });
  await made.agent.add(addArgs('c1'), newCall());
  await expect(made.agent.add(addArgs('c2'), newCall())).rejects.toThrow();
  await expect(made.agent.add(addArgs('c3', { defaultIPv4IPPool: ['none'] }), newCall())).rejects.toThrow();
  await made.agent.del(delArgs('c1'));
  const values = await valuesOf(set);
  expect(Object.fromEntries([...values].filter(([name]) => /^spiderpool_ipam_.*_counts_total$/.test(name)))).toEqual({
    spiderpool_ipam_allocation_counts_total: 3,
    spiderpool_ipam_allocation_failure_counts_total: 2,
    spiderpool_ipam_allocation_update_ippool_conflict_counts_total: 0,
    spiderpool_ipam_allocation_err_internal_counts_total: 0,
    spiderpool_ipam_allocation_err_no_available_pool_counts_total: 1,
    spiderpool_ipam_allocation_err_retries_exhausted_counts_total: 0,
    spiderpool_ipam_allocation_err_ip_used_out_counts_total: 1,
    spiderpool_ipam_release_counts_total: 1,
    spiderpool_ipam_release_failure_counts_total: 0,
    spiderpool_ipam_release_update_ippool_conflict_counts_total: 0,
    spiderpool_ipam_release_err_internal_counts_total: 0,
    spiderpool_ipam_release_err_retries_exhausted_counts_total: 0,
  });
  expect(values.get('spiderpool_ipam_allocation_duration_seconds_count')).toBe(3);
  expect(values.get('spiderpool_ipam_allocation_max_duration_seconds')).toBeGreaterThan(0);
  expect(values.get('spiderpool_ipam_release_duration_seconds_count')).toBe(1);
  expect(values.get('ipledger_allocation_failures_total{reason="pools-exhausted"}')).toBe(1);
});

test('waits, probes and conflicts are counted, and gauges are read at the scrape', async () => {
  const set = new MetricSet();
  const metrics = exportAgentMetrics(set);
  metrics.queueWait(200);
  metrics.queueWait(400, 'release');
  metrics.probe('free');
  metrics.probe('conflict');
  metrics.createConflict();
  metrics.releaseConflict();
  metrics.releaseConflict();
  metrics.watch('waiting-adds', () => 7);
  const values = await valuesOf(set);
  expect(values.get('spiderpool_ipam_allocation_latest_limit_duration_seconds')).toBe(0.2);
  expect(values.get('spiderpool_ipam_release_latest_limit_duration_seconds')).toBe(0.4);
  expect(values.get('ipledger_probes_total{verdict="conflict"}')).toBe(1);
  expect(values.get('ipledger_create_conflicts_total')).toBe(1);
  expect(values.get('spiderpool_ipam_allocation_update_ippool_conflict_counts_total')).toBe(1);
  expect(values.get('spiderpool_ipam_release_update_ippool_conflict_counts_total')).toBe(2);
  expect(values.get('ipledger_waiting_adds')).toBe(7);
});

test('durations have a histogram, and real gauges for average, max, min and latest', async () => {
  const set = new MetricSet();
  const metrics = exportAgentMetrics(set);
  for (const ms of [200, 4_000, 600]) metrics.queueWait(ms);
  const values = await valuesOf(set);
  const statistics = ['average', 'max', 'min', 'latest'].map((it) =>
    values.get(`spiderpool_ipam_allocation_${it}_limit_duration_seconds`)?.toFixed(3),
  );
  expect(statistics).toEqual(['1.600', '4.000', '0.200', '0.600']);
  expect(values.get('spiderpool_ipam_allocation_limit_duration_seconds_bucket{le="1"}')).toBe(2);
});

test('a failure counts under one cause at most', async () => {
  for (const reason of Object.keys(REASONS) as Reason[]) {
    const set = new MetricSet();
    exportAgentMetrics(set).allocation(1, reason);
    const causes = [...(await valuesOf(set))].filter(([name, value]) => name.includes('_err_') && value > 0);
    expect(causes.length).toBeLessThanOrEqual(1);
  }
});
