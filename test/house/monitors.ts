import { parse, parseAllDocuments } from 'yaml';
import { readRootFile } from './source-files.ts';

type Labels = Readonly<Record<string, string>>;

interface Relabeling {
  readonly sourceLabels?: readonly string[];
  readonly targetLabel: string;
  readonly replacement?: string;
}

export interface Monitor {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels };
    readonly podMetricsEndpoints: readonly { readonly port: string; readonly relabelings: readonly Relabeling[] }[];
  };
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
}

interface Workload {
  readonly metadata: { readonly namespace: string };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: { readonly containers: readonly [Container] };
    };
  };
}

/** The manifests whose pods have metrics. */
export type Exporter = 'agent' | 'controller';

export const MONITORS = parseAllDocuments(readRootFile('deploy/monitoring.yaml')).map((it) => it.toJS() as Monitor);

/** The DaemonSet or Deployment, which is the first object of its file. */
export function workloadOf(exporter: Exporter): Workload {
  return parseAllDocuments(readRootFile(`deploy/${exporter}.yaml`))[0]?.toJS() as Workload;
}

/** As the Prometheus operator does it: pods of the monitor's own namespace that have all labels. */
export function monitorsOf(exporter: Exporter): Monitor[] {
  const { metadata, spec } = workloadOf(exporter);
  const { labels } = spec.template.metadata;
  return MONITORS.filter(
    (monitor) =>
      monitor.metadata.namespace === metadata.namespace &&
      Object.entries(monitor.spec.selector.matchLabels).every(([name, value]) => labels[name] === value),
  );
}

const relabelingsOf = (exporter: Exporter) =>
  monitorsOf(exporter).flatMap(({ spec }) => spec.podMetricsEndpoints.flatMap(({ relabelings }) => relabelings));

/** The values of the label `job` on what is scraped from these pods. */
export function jobsOf(exporter: Exporter): string[] {
  return relabelingsOf(exporter).flatMap(({ targetLabel, replacement }) =>
    targetLabel === 'job' && replacement !== undefined ? [replacement] : [],
  );
}

/** The labels on everything scraped from these pods: those of the monitor, and those that the operator always adds. */
export function targetLabelsOf(exporter: Exporter): string[] {
  return ['namespace', 'pod', 'container', 'instance', ...relabelingsOf(exporter).map((it) => it.targetLabel)];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** The groups of rules, as a file of Prometheus has them. */
export const RULE_GROUPS = (
  parse(readRootFile('deploy/alerts.yaml')) as { spec: { groups: { name: string; rules: Alert[] }[] } }
).spec.groups;

export const ALERTS: readonly Alert[] = RULE_GROUPS.flatMap(({ rules }) => rules);
