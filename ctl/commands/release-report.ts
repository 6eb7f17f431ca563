import { readFileSync } from 'node:fs';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { parseReport, type ReportLine } from '#ctl/render/report-line.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

interface Outcome {
  readonly name: string;
  readonly released: boolean;
  /** Why it was not released; empty if it was. */
  readonly because: string;
}

/**
 * Releases the records that an operator marked in a report, each only in the version that the report shows. One that is refused
 * does not keep the others from being released.
 */
export async function releaseFromReport(session: Session, file: string, yes: boolean): Promise<ExitCode> {
  const { asOfMs, lines } = parseReport(readReport(file));
  const marked = lines.filter(({ action }) => action !== 'keep');
  if (marked.length === 0) {
    session.terminal.complain(`No line of ${file} says release: nothing was released.\n`);
    return 1;
  }
  if (!yes && !(await confirm(session, marked))) {
    session.terminal.complain('Nothing was released.\n');
    return 1;
  }
  const outcomes: Outcome[] = [];
  for (const line of marked) outcomes.push(await releaseOne(session, line, asOfMs));
  show(session, outcomes, renderOutcomes);
  return outcomes.every(({ released }) => released) ? 0 : 1;
}

function readReport(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const { message } = thrown as Error;
    throw new IpamError('bad-input', `the report ${file} cannot be read: ${message}`, { cause: thrown });
  }
}

async function confirm({ terminal }: Session, marked: readonly ReportLine[]): Promise<boolean> {
  if (!terminal.isInteractive) {
    throw new IpamError('bad-input', 'the release cannot be confirmed: stdin is not a terminal', {
      details: 'In a script say --yes.',
    });
  }
  terminal.complain(
    marked.map(({ action, name }) => `  ${name}${action === 'release' ? '' : ' although in doubt'}\n`).join(''),
  );
  const reply = await terminal.ask(`Release these ${marked.length}? [y/N] `);
  return /^y(es)?$/i.test(reply.trim());
}

/** A refusal that is about this record is its outcome. If the agent or the API server does not answer, the rest cannot be released either. */
async function releaseOne({ client }: Session, line: ReportLine, asOfMs: number): Promise<Outcome> {
  const { action, name, uid, resourceVersion } = line;
  const doubt = action === 'release-in-doubt' ? { althoughInDoubt: true } : {};
  try {
    const { released, because } = await client.release({ name, uid, resourceVersion, asOfMs, ...doubt });
    return { name, released, because: released ? '' : WORDS[because ?? 'changed'] };
  } catch (thrown) {
    const error = toIpamError(thrown);
    if (error.reason !== 'bad-input') throw error;
    const details = error.details === '' ? '' : `. ${error.details.replaceAll('\n', ' ')}`;
    return { name, released: false, because: `${error.message}${details}` };
  }
}

const WORDS = {
  gone: 'it is gone already',
  changed: 'it has changed since the report; make a new one',
} as const;

function renderOutcomes(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map(({ name, released, because }) =>
    released ? `Released ${name}.\n` : `Not released: ${name}: ${because}\n`,
  );
  const count = outcomes.filter(({ released }) => released).length;
  return `${lines.join('')}${count} of ${outcomes.length} released.\n`;
}
