import type { ImportAnswer } from './import.ts';
import { toTable } from './table.ts';

const MOST_SHOWN = 10;

export function renderImport({ outcome, marker, addresses, unreadable }: ImportAnswer): string {
  const by = marker === null ? '' : ` at ${marker.adoptedAt} by ${marker.adoptedBy}`;
  if (outcome === 'adopted') return `No state of another address manager. Marked as adopted${by}: agents may begin.\n`;
  if (outcome === 'ready') return 'No state of another address manager. Without --dry-run, agents may begin.\n';
  const state = renderState(addresses, unreadable);
  if (outcome === 'already-adopted') {
    return `Adopted${by}.\n${state === '' ? '' : `\nWithout a record, though:\n${state}`}`;
  }
  return `Not adopted: addresses are in use that have no record, and importing them is not possible yet.\n${state}`;
}

function renderState(addresses: ImportAnswer['addresses'], unreadable: ImportAnswer['unreadable']): string {
  const rows = addresses.slice(0, MOST_SHOWN).map(({ address, where, holder }) => [address, where, holder]);
  const table = rows.length === 0 ? '' : toTable(['ADDRESS', 'IN', 'HOLDER'], rows);
  const more = addresses.length > rows.length ? `… and ${addresses.length - rows.length} more\n` : '';
  const broken = unreadable.slice(0, MOST_SHOWN).map((line) => `unreadable: ${line}\n`);
  const moreBroken = unreadable.length > MOST_SHOWN ? `… and ${unreadable.length - MOST_SHOWN} more\n` : '';
  return [table, more, ...broken, moreBroken].join('');
}
