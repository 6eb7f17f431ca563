import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { WatchedGauge } from '#agent/report/agent-metrics.ts';
import { AGENT_GAUGES, exportAgentMetrics } from '#agent/report/exported-metrics.ts';
import { CONTROLLER_METRICS } from '#controller/project/metric-names.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { readRootFile } from './source-files.ts';

const LANGUAGE = [
  'absent',
  'and',
  'by',
  'count',
  'histogram_quantile',
  'increase',
  'label_values',
  'max',
  'or',
  'rate',
  'sum',
  'vector',
];
const agentMetrics = new MetricSet();
const exported = exportAgentMetrics(agentMetrics);
for (const gauge of Object.keys(AGENT_GAUGES)) exported.watch(gauge as WatchedGauge, () => 0);
/** By name, with their types, as a scrape of the agent shows them. */
const AGENT_METRICS = new Map(
  [...(await agentMetrics.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
);
const METRICS: readonly string[] = [...Object.keys(CONTROLLER_METRICS), ...AGENT_METRICS.keys()];

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readRootFile('deploy/grafana-ipledger.json')) as {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string }[] };
};
const alerts = parse(readRootFile('deploy/alerts.yaml')) as {
  spec: { groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[] };
};

const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ place: title, expr }))),
  ...dashboard.templating.list.flatMap(({ name, type, query }) =>
    type === 'query' ? [{ place: name, expr: query }] : [],
  ),
  ...alerts.spec.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ place: alert, expr }))),
];

/** Names in an expression that are neither labels nor keywords; a bucket counts as its histogram. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/\{[^}]*\}|"[^"]*"|\[[^\]]*\]/g, ' ')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
    .replace(/(label_values\([^,]*),[^)]*/, '$1');
  const names = bare.match(/[a-zA-Z_:][a-zA-Z0-9_:]*/g) ?? [];
  return names.filter((name) => !LANGUAGE.includes(name)).map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}

/** Labels in selectors and groupings. */
function labelsIn(expr: string): string[] {
  const matchers = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) => inner.match(/\w+(?=\s*[=!])/g) ?? []);
  const groups = [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, inner = '']) => inner.split(/[\s,]+/));
  return [...matchers, ...groups].filter((label) => label !== '' && label !== 'le');
}

test.each(queries)('$place uses only metrics that exist', ({ expr }) => {
  const names = metricsIn(expr);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !METRICS.includes(name))).toEqual([]);
});

test.each(queries)('$place uses only labels that its metrics have', ({ expr }) => {
  const known = metricsIn(expr).flatMap((name) =>
    name in CONTROLLER_METRICS ? CONTROLLER_METRICS[name as keyof typeof CONTROLLER_METRICS].labels : [],
  );
  expect(labelsIn(expr).filter((label) => !known.includes(label as never))).toEqual([]);
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

test('the labels in the text of an alert exist on its metric', () => {
  for (const { expr, annotations } of alerts.spec.groups.flatMap(({ rules }) => rules)) {
    const known = metricsIn(expr).flatMap((name) =>
      name in CONTROLLER_METRICS ? CONTROLLER_METRICS[name as keyof typeof CONTROLLER_METRICS].labels : [],
    );
    const told = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(told.filter((label) => !known.includes(label as never))).toEqual([]);
  }
});
