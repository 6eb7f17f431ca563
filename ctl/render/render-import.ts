import type { Adoption } from '#pkg/adopt/adopt.ts';
import { toTable } from './table.ts';

const MOST_SHOWN = 10;

interface Words {
  readonly system: string;
  readonly whoBegins: string;
  readonly loseRight: string;
}

const WORDS = {
  spiderpool: {
    system: 'Spiderpool',
    whoBegins: 'agents may begin',
    loseRight: 'Take that right away first (delete the ClusterRoleBindings of Spiderpool, or its release)',
  },
  vitistack: {
    system: 'static-ip-operator',
    whoBegins: 'the controller serves Vitistack',
    loseRight:
      'Switch it off first (scale its Deployment to 0 and wait for its pods, or delete its ClusterRoleBinding)',
  },
} as const satisfies Record<string, Words>;

export function renderImport(adoption: Adoption, from: keyof typeof WORDS): string {
  const { records, collisions, unreadable, writers } = adoption;
  const words = WORDS[from];
  return [
    headline(adoption, words),
    ...some(writers, (account) => `may still give out addresses: service account ${account}\n`),
    writers.length === 0 ? '' : `${words.loseRight}, then import again.\n`,
    ...some(unreadable, (line) => `unreadable: ${line}\n`),
    ...some(collisions, (line) => `collision: ${line}\n`),
    recordTable(records),
  ].join('');
}

function headline({ outcome, marker, records, writers, unreadable }: Adoption, { system, whoBegins }: Words): string {
  const by = marker === null ? '' : ` at ${marker.adoptedAt} by ${marker.adoptedBy}`;
  const count = `${records.length} ${records.length === 1 ? 'address' : 'addresses'}`;
  if (outcome === 'already-adopted')
    return `Adopted${by}.${records.length === 0 ? '' : ` Without a record, though: ${count}.`}\n`;
  if (outcome === 'adopted') {
    const what =
      records.length === 0 ? 'No state of another address manager.' : `Records made for ${count} of ${system}.`;
    return `${what} Marked as adopted${by}: ${whoBegins}.\n`;
  }
  const found =
    records.length === 0 && outcome === 'ready'
      ? 'No state of another address manager.'
      : `${system} gave out ${records.length === 0 ? 'no address' : count} without a record here.`;
  if (outcome === 'ready')
    return `${found} Without --dry-run, ${records.length === 0 ? '' : 'they get records and '}${whoBegins}.\n`;
  const why =
    writers.length > 0 || unreadable.length > 0
      ? ''
      : ' Something still gives out addresses: new ones appear all the time.';
  return `Not adopted. ${found}${why}\n`;
}

function recordTable(records: Adoption['records']): string {
  if (records.length === 0) return '';
  const rows = records
    .slice(0, MOST_SHOWN)
    .map(({ address, pool, holder }) => [
      address,
      pool.name,
      `${holder.namespace}/${holder.name}`,
      holder.interface,
      holder.node,
    ]);
  const more = records.length > rows.length ? `… and ${records.length - rows.length} more\n` : '';
  return toTable(['ADDRESS', 'POOL', 'HOLDER', 'INTERFACE', 'NODE'], rows) + more;
}

function some(lines: readonly string[], render: (line: string) => string): string[] {
  const shown = lines.slice(0, MOST_SHOWN).map(render);
  return lines.length > MOST_SHOWN ? [...shown, `… and ${lines.length - MOST_SHOWN} more\n`] : shown;
}
