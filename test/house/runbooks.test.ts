import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readRootFile } from './source-files.ts';

interface Rules {
  readonly spec: { readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[] };
}

const page = readRootFile('docs/runbooks.md');
const alerts = (parse(readRootFile('deploy/alerts.yaml')) as Rules).spec.groups.flatMap(({ rules }) =>
  rules.map(({ alert }) => alert),
);
/** What a section about an alert has to say. */
const PARTS = ['**Means**', '**Look**', '**Over**'];

function sectionOf(alert: string): string {
  const [section = ''] = (page.split(`\n### ${alert}\n`)[1] ?? '').split('\n## ')[0]?.split('\n### ') ?? [];
  return section;
}

test('every alert has a section, in the order of the alerts, and no other section is there', () => {
  expect(alerts.length).toBeGreaterThan(10);
  expect([...page.matchAll(/^### (.+)$/gm)].map(([, title]) => title)).toEqual(alerts);
});

test.each(alerts)('the section about %s says what it means, where to look, and when it is over', (alert) => {
  const section = sectionOf(alert);
  const missing = PARTS.filter((part) => !section.includes(part));
  expect(missing).toEqual([]);
});

test('without a controller, the runbook deletes every webhook configuration of deploy/, and brings them back', () => {
  const section = sectionOf('IpledgerControllerAbsent');
  const [, kinds = '', name] = /^kubectl delete (\S+) (\S+)$/m.exec(section) ?? [];
  const manifests = parseAllDocuments(readRootFile('deploy/webhook.yaml')).map((it) => it.toJS());
  const configurations = manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
  const deleted = kinds.split(',').map((kind) => [kind, name]);
  expect(deleted.toSorted()).toEqual(configurations.map((it) => [it.kind.toLowerCase(), it.metadata.name]).toSorted());
  expect(section).toContain('\nkubectl apply -f deploy/webhook.yaml ');
});
