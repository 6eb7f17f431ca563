import { expect, test } from 'vitest';
import { jobsOf, MONITORS, monitorsOf, workloadOf } from './monitors.ts';
import { readRootFile } from './source-files.ts';

const EXPORTERS = ['agent', 'controller'] as const;

test.each(EXPORTERS)('one monitor selects the pods of deploy/%s.yaml', (exporter) => {
  expect(monitorsOf(exporter).map(({ metadata }) => metadata.name)).toEqual([`ipledger-${exporter}`]);
});

test('every monitor selects pods of one manifest', () => {
  for (const monitor of MONITORS) {
    expect(EXPORTERS.filter((exporter) => monitorsOf(exporter).includes(monitor))).toHaveLength(1);
  }
});

test.each(EXPORTERS)('the monitor of the %s scrapes the named port where the metrics are', (exporter) => {
  const [container] = workloadOf(exporter).spec.template.spec.containers;
  const set = (name: string) => container.env.find((variable) => variable.name === name)?.value;
  expect(set('IPLEDGER_ENABLED_METRIC')).toBe('true');
  const endpoints = monitorsOf(exporter).flatMap(({ spec }) => spec.podMetricsEndpoints);
  const scraped = endpoints.map(({ port }) => container.ports.find(({ name }) => name === port)?.containerPort);
  expect(scraped).toEqual([Number(set('IPLEDGER_METRIC_HTTP_PORT'))]);
});

test.each(EXPORTERS)('the monitor of the %s names the job and the node', (exporter) => {
  expect(jobsOf(exporter)).toEqual([`ipledger-${exporter}`]);
  const relabelings = monitorsOf(exporter).flatMap(({ spec }) => spec.podMetricsEndpoints[0]?.relabelings ?? []);
  expect(relabelings).toContainEqual({ sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node' });
});

test('the page names the jobs and the files', () => {
  const [chapter = ''] = (readRootFile('docs/cluster.md').split('\n## Monitoring\n')[1] ?? '').split('\n## ');
  const names = [...EXPORTERS.flatMap(jobsOf), 'kubectl apply -f deploy/monitoring.yaml -f deploy/alerts.yaml'];
  expect(names.filter((name) => !chapter.includes(name))).toEqual([]);
});
