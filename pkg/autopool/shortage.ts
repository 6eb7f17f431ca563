import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';

/** The condition of a SpiderSubnet that says who has no pool, or not enough of one, and why. */
export const SHORTAGE_CONDITION = 'Insufficient';

/** The reason of the condition while its status is Unknown: the message says why nothing is known. */
export const SHORTAGES_UNKNOWN = 'Waiting';

/** Why one application does not get what it asks of a subnet; `why` completes the sentence "… eth0: …". */
export interface Shortage {
  readonly application: Omit<AutoPoolKey['application'], 'uid'>;
  /** Null: it concerns all interfaces of the application. */
  readonly interface: string | null;
  readonly why: string;
}

/** So many lines of 1,000 characters fit into the message of a condition (32,768 characters). */
const MOST_LINES = 30;
const LONGEST_LINE = 1_000;
const CUT = '… and ';

/**
 * One line for each application: a person reads it, and `readShortage` finds one of them in it. Namespaces take turns, so that the faults
 * of one do not leave the others without a line.
 */
export function formatShortages(shortages: readonly Shortage[]): string {
  const lines = byTurns(shortages)
    .slice(0, MOST_LINES)
    .map((one) => `${subjectOf(one)}: ${onOneLine(one.why)}`.slice(0, LONGEST_LINE));
  if (shortages.length > MOST_LINES) lines.push(`${CUT}${shortages.length - MOST_LINES} more`);
  return lines.join('\n');
}

/**
 * What the status of a SpiderSubnet says of one application and interface; null if it says nothing. If not all have a line, the application
 * may be one of those that have none. `status` is not checked yet.
 */
export function readShortage(status: unknown, of: Pick<Shortage, 'application' | 'interface'>): string | null {
  const lines = shortageLines(status);
  if (conditionOf(status)?.status === 'Unknown') return lines.join(' ');
  for (const start of [`${subjectOf(of)}: `, `${subjectOf({ ...of, interface: null })}: `]) {
    const line = lines.find((it) => it.startsWith(start));
    if (line !== undefined) return line.slice(start.length);
  }
  const cut = lines.find((line) => line.startsWith(CUT));
  return cut === undefined ? null : `not listed: ${cut.slice(CUT.length)} wait; the Events of the application say why`;
}

/** All that the status of a SpiderSubnet says about who waits. `status` is not checked yet. */
export function shortageLines(status: unknown): string[] {
  const condition = conditionOf(status);
  return condition === null ? [] : condition.message.split('\n');
}

function conditionOf(status: unknown): { readonly status: string; readonly message: string } | null {
  const conditions = isMap(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  const condition = conditions.find((one) => isMap(one) && one['type'] === SHORTAGE_CONDITION);
  if (!isMap(condition)) return null;
  const { status: is, message } = condition as { status?: unknown; message?: unknown };
  return (is === 'True' || is === 'Unknown') && typeof message === 'string' ? { status: is, message } : null;
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
  return `${apiVersion} ${kind} ${namespace}/${name}${nic === null ? '' : ` ${nic}`}`;
}
