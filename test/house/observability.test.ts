import { expect, test } from 'vitest';
import type { WatchedGauge } from '#agent/report/agent-metrics.ts';
import { AGENT_GAUGES, exportAgentMetrics } from '#agent/report/exported-metrics.ts';
import { CONTROLLER_METRICS } from '#controller/project/metric-names.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { ALERTS, type Exporter, jobsOf, targetLabelsOf } from './monitors.ts';
import { jobsIn, labelsIn, labelsLeft, metricsIn } from './promql.ts';
import { readRootFile } from './source-files.ts';

const agentMetrics = new MetricSet();
const exported = exportAgentMetrics(agentMetrics);
for (const gauge of Object.keys(AGENT_GAUGES)) exported.watch(gauge as WatchedGauge, () => 0);
/** By name, with their types, as a scrape of the agent shows them. */
const AGENT_METRICS = new Map(
  [...(await agentMetrics.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
);
/** Prometheus itself makes it, for every target. */
const OF_TARGETS = 'up';
const METRICS: readonly string[] = [...Object.keys(CONTROLLER_METRICS), ...AGENT_METRICS.keys(), OF_TARGETS];

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readRootFile('deploy/grafana-ipledger.json')) as {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string }[] };
};

const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ place: title, expr }))),
  ...dashboard.templating.list.flatMap(({ name, type, query }) =>
    type === 'query' ? [{ place: name, expr: query }] : [],
  ),
  ...ALERTS.map(({ alert, expr }) => ({ place: alert, expr })),
];

function exportersOf(metric: string): Exporter[] {
  if (metric === OF_TARGETS) return ['agent', 'controller'];
  if (metric in CONTROLLER_METRICS) return ['controller'];
  return AGENT_METRICS.has(metric) ? ['agent'] : [];
}

/** The labels of every metric in an expression: its own, and those of the targets that have it. */
function labelsOfMetrics(expr: string): string[] {
  return metricsIn(expr).flatMap((name) => [
    ...(name in CONTROLLER_METRICS ? CONTROLLER_METRICS[name as keyof typeof CONTROLLER_METRICS].labels : []),
    ...exportersOf(name).flatMap(targetLabelsOf),
  ]);
}

test.each(queries)('$place uses only metrics that exist', ({ expr }) => {
  const names = metricsIn(expr);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !METRICS.includes(name))).toEqual([]);
});

test.each(queries)('$place uses only labels that its metrics have', ({ expr }) => {
  const known = labelsOfMetrics(expr);
  expect(labelsIn(expr).filter((label) => !known.includes(label))).toEqual([]);
});

test('gauges are used as gauges and counters as counters', () => {
  const rated = queries.flatMap(({ expr }) =>
    [...expr.matchAll(/(?:rate|increase)\((\w+)/g)].map(([, name = '']) => name),
  );
  const types = [...Object.entries(CONTROLLER_METRICS).map(([name, { type }]) => [name, type]), ...AGENT_METRICS];
  const gauges = types.filter(([, type]) => type === 'gauge').map(([name]) => name);
  expect(rated.length).toBeGreaterThan(0);
  expect(rated.filter((name) => gauges.includes(name))).toEqual([]);
});

test.each(ALERTS)('$alert asks each metric of the job that exports it', ({ expr }) => {
  const asked = jobsIn(expr);
  expect(asked.map(({ metric }) => metric).toSorted()).toEqual(metricsIn(expr).toSorted());
  for (const { metric, job } of asked) expect(exportersOf(metric).flatMap(jobsOf)).toContain(job);
});

test.each(ALERTS)('$alert says what is wrong and what to do, with labels that its result has', (alert) => {
  const { expr, labels, annotations } = alert;
  expect(['warning', 'critical']).toContain(labels.severity);
  for (const said of [annotations.summary, annotations.description]) expect(said.length).toBeGreaterThan(20);
  const known = labelsLeft(expr, labelsOfMetrics(expr));
  const told = Object.values(annotations).flatMap((said) =>
    [...said.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
  );
  expect(told.filter((label) => !known.includes(label))).toEqual([]);
});

test('an alert watches every gauge of agents that must be zero, and the quarantine', () => {
  const expressions = ALERTS.map(({ expr }) => expr).join('\n');
  for (const gauge of ['ready', 'journal-entries', 'lost-addresses', 'outliving-sandboxes'] as const) {
    expect(expressions).toContain(`${AGENT_GAUGES[gauge].name}{`);
  }
  expect(expressions).toContain('state="Quarantined"');
});
