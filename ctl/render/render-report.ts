import type { CheckAnswer, Finding } from '#pkg/agentapi/admin.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toHolderText } from './holder-text.ts';
import { toPrintable } from './printable.ts';
import { formatFirstLine } from './report-line.ts';
import { toTable } from './table.ts';

const HOW_TO = `#
# Change "keep" to "release" where an address shall be given back, then:
#   ipledgerctl release --from-report FILE
# Nothing is released whose record has changed since, or whose pod is alive. Lines may be deleted.
# What is in-doubt is refused too while it is not proven that its sandbox is gone: settle it on its node, or declare the node lost.
# "release-in-doubt" releases it without proof. If the sandbox is still there, two MACs then answer on the address.
#
`;
const HEADER = ['# action', 'record', 'uid', 'version', 'holder', 'finding'];

/** Every record that a finding is about, with its findings; what is about no record follows as comments. */
export function renderReport(answer: CheckAnswer, records: readonly IpRecord[], asOfMs: number): string {
  const { recordsChecked, findings } = toPrintable(answer);
  const byName = new Map(toPrintable(records).map((record) => [record.name, record]));
  const byRecord = Map.groupBy(findings.flatMap(perRecord), ({ name }) => name);
  const rows = [...byRecord].flatMap(([name, found]) => {
    const record = byName.get(name);
    return record === undefined ? [] : [rowOf(record, found.map(({ text }) => text).join('; '))];
  });
  const others = findings.filter(({ records: names = [] }) => !names.some((name) => byName.has(name)));
  const counts = `# ${recordsChecked} records checked, ${findings.length} findings, about ${rows.length} records.\n`;
  return (
    formatFirstLine(asOfMs) + counts + HOW_TO + (rows.length === 0 ? '' : toTable(HEADER, rows)) + sayOthers(others)
  );
}

function perRecord({ kind, message, records = [] }: Finding): { name: string; text: string }[] {
  return records.map((name) => ({ name, text: `${kind}: ${message}` }));
}

function rowOf({ name, uid, resourceVersion, spec }: IpRecord, found: string): string[] {
  return ['keep', name, uid, resourceVersion, toHolderText(spec.holder), found];
}

function sayOthers(findings: readonly Finding[]): string {
  if (findings.length === 0) return '';
  const lines = findings.map(({ kind, subject, message }) => `#   ${kind} ${subject}: ${message}\n`);
  return `#\n# Findings that no release settles:\n${lines.join('')}`;
}
