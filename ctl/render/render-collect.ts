import type { CollectAnswer } from '#pkg/agentapi/admin.ts';
import { toTable } from './table.ts';

export function renderCollect({ dryRun, freed, kept }: CollectAnswer): string {
  const parts = [renderPart(dryRun ? 'Would free' : 'Freed', freed), renderPart('Kept for now', kept)].filter(
    (part) => part !== '',
  );
  return parts.length === 0 ? 'Nothing to collect.\n' : parts.join('\n');
}

function renderPart(title: string, items: CollectAnswer['freed']): string {
  if (items.length === 0) return '';
  const rows = items.map(({ name, holder, because }) => [name, holder, because]);
  return `${title} (${items.length}):\n${toTable(['RECORD', 'HOLDER', 'BECAUSE'], rows)}`;
}
