import type { CheckAnswer } from '#pkg/agentapi/admin.ts';
import { toTable } from './table.ts';

export function renderCheck({ recordsChecked, findings }: CheckAnswer): string {
  const checked = `${recordsChecked} ${recordsChecked === 1 ? 'record' : 'records'} checked`;
  if (findings.length === 0) return `${checked}, nothing found.\n`;
  const rows = findings.map(({ kind, subject, message }) => [kind, subject, message]);
  const found = `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`;
  return `${checked}, ${found}:\n${toTable(['KIND', 'SUBJECT', 'WHAT IS WRONG'], rows)}`;
}
