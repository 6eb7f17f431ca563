import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';

/** The condition of a SpiderSubnet that says who has no pool, or not enough of one, and why. */
export const SHORTAGE_CONDITION = 'Insufficient';

/** Why one application does not get what it asks of a subnet; `why` completes the sentence "… eth0: …". */
export interface Shortage {
  readonly application: Omit<AutoPoolKey['application'], 'uid'>;
  readonly interface: string;
  readonly why: string;
}

/** So many lines of 1,000 characters fit into the message of a condition (32,768 characters). */
const MOST_LINES = 30;
const LONGEST_LINE = 1_000;

/**
 * One line for each application: a person reads it, and `readShortage` finds one of them in it. Namespaces take turns, so that the faults
 * of one do not leave the others without a line.
 */
export function formatShortages(shortages: readonly Shortage[]): string {
  const lines = byTurns(shortages)
    .slice(0, MOST_LINES)
    .map((one) => `${subjectOf(one)}: ${onOneLine(one.why)}`.slice(0, LONGEST_LINE));
  if (shortages.length > MOST_LINES) lines.push(`… and ${shortages.length - MOST_LINES} more`);
  return lines.join('\n');
}

/** What the status of a SpiderSubnet says of one application and interface; null if it is not among those listed. `status` is not checked yet. */
export function readShortage(status: unknown, of: Pick<Shortage, 'application' | 'interface'>): string | null {
  const start = `${subjectOf(of)}: `;
  return (
    shortageLines(status)
      .find((line) => line.startsWith(start))
      ?.slice(start.length) ?? null
  );
}

/** All that the status of a SpiderSubnet says about who waits. `status` is not checked yet. */
export function shortageLines(status: unknown): string[] {
  const conditions = isMap(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  const condition = conditions.find((one) => isMap(one) && one['type'] === SHORTAGE_CONDITION);
  if (!isMap(condition) || condition['status'] !== 'True' || typeof condition['message'] !== 'string') return [];
  return condition['message'].split('\n');
}

/** First the first one of each namespace, then the second ones. */
function byTurns(shortages: readonly Shortage[]): readonly Shortage[] {
  const seen = new Map<string, number>();
  const turns = shortages.map((shortage) => {
    const turn = seen.get(shortage.application.namespace) ?? 0;
    seen.set(shortage.application.namespace, turn + 1);
    return { shortage, turn };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ shortage }) => shortage);
}

/** The words of the API server may have several. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function subjectOf({ application, interface: nic }: Pick<Shortage, 'application' | 'interface'>): string {
  const { apiVersion, kind, namespace, name } = application;
  return `${apiVersion} ${kind} ${namespace}/${name} ${nic}`;
}
