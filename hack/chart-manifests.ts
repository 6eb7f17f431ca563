import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const HEADER = '# Rendered by hack/generate from deploy/chart. Do not edit.\n';

/** The manifests for those who do without Helm: each is one template of the chart, with the switch that it needs. */
export const RENDERED: Readonly<Record<string, readonly string[]>> = {
  'admission-policy.yaml': [],
  'agent.yaml': [],
  'alerts.yaml': ['prometheusRule.install'],
  'config.yaml': [],
  'controller.yaml': [],
  'flow-control.yaml': [],
  'monitoring.yaml': ['podMonitor.install'],
  'rbac-cluster-api.yaml': ['clusterAPI.enabled'],
  'rbac-support.yaml': ['support.enabled'],
  'rbac-vitistack-import.yaml': ['vitistack.enabled'],
  'rbac-vitistack.yaml': ['vitistack.enabled'],
  'rbac.yaml': ['namespace.create'],
  'webhook.yaml': [],
};

/** What belongs into deploy/, by path from the root of the repository. `helm` is the program. */
export function renderManifests(helm: string): { path: string; text: string }[] {
  const manifests = Object.entries(RENDERED).map(([name, switches]) => {
    const rendered = helmTemplate(helm, [`--show-only=templates/${name}`, ...switches.map(turnOn)]);
    const template = readFileSync(join(ROOT, 'deploy/chart/templates', name), 'utf8');
    const documents = documentsOf(rendered).map(withoutChecksum);
    return { path: `deploy/${name}`, text: HEADER + inOrderOf(template, documents).join('---\n') };
  });
  const dashboard = readFileSync(join(ROOT, 'deploy/chart/files/grafana-ipledger.json'), 'utf8');
  return [...manifests, { path: 'deploy/grafana-ipledger.json', text: dashboard }];
}

const turnOn = (name: string): string => `--set=${name}=true`;

/** Helm reads no cluster here, and assumes an old version of Kubernetes unless one is named. */
const FLAGS = ['--namespace=ipledger', '--kube-version=1.36.0'];

export function helmTemplate(helm: string, flags: readonly string[]): string {
  const words = ['template', 'ipledger', join(ROOT, 'deploy/chart'), ...FLAGS, ...flags];
  return execFileSync(helm, words, { encoding: 'utf8' });
}

/** Helm sorts them by kind, and writes above each where it comes from. */
function documentsOf(rendered: string): string[] {
  return rendered
    .split(/^---\n# Source: .*\n/m)
    .map((text) => `${text.trim()}\n`)
    .filter((text) => text !== '\n');
}

/**
 * Pods of the chart carry the hash of their settings, so that an upgrade with others restarts them. In deploy/ an operator writes the
 * settings into config.yaml by hand, and the hash would be that of other settings.
 */
function withoutChecksum(text: string): string {
  return text.replace(/^ *annotations:\n *checksum\/config: .*\n/m, '');
}

/** As a person wrote them, and no longer by kind. The Namespace, whose name is a setting, comes first. */
function inOrderOf(template: string, documents: readonly string[]): string[] {
  const placeOf = (text: string) => template.indexOf(/^kind: .*\nmetadata:\n {2}name: .*$/m.exec(text)?.[0] ?? '');
  return documents.toSorted((a, b) => placeOf(a) - placeOf(b));
}
