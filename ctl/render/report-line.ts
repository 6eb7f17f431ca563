import { IpamError } from '#pkg/errors/ipam-error.ts';

/**
 * The file that `check -o report` prints and `release --from-report` reads: one line per record, `#` begins a comment.
 * The first line names the format and when the records were read.
 */
export interface Report {
  readonly asOfMs: number;
  readonly lines: readonly ReportLine[];
}

/** A record as the check saw it. The rest of its line is for people and is not read. */
export interface ReportLine {
  /** `release-in-doubt`: also without proof that its sandbox is gone. */
  readonly action: (typeof ACTIONS)[number];
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

const FORMAT = 'ipledger-report/1';
const ACTIONS = ['keep', 'release', 'release-in-doubt'] as const;

export function formatFirstLine(asOfMs: number): string {
  return `${FORMAT} ${new Date(asOfMs).toISOString()}\n`;
}

export function parseReport(text: string): Report {
  const lines = text.split('\n').map((line, at) => ({ words: line.trim().split(/\s+/), number: at + 1 }));
  const [first, ...rest] = lines.filter(({ words: [word = ''] }) => word !== '' && !word.startsWith('#'));
  const asOfMs = first?.words[0] === FORMAT ? Date.parse(first.words[1] ?? '') : Number.NaN;
  if (Number.isNaN(asOfMs)) {
    throw new IpamError('bad-input', 'this is no report: its first line is missing', {
      details: 'Make one with: ipledgerctl check -o report > FILE',
    });
  }
  return { asOfMs, lines: rest.map(({ words, number }) => parseLine(words, number)) };
}

function parseLine([action = '', name, uid, resourceVersion]: readonly string[], number: number): ReportLine {
  if (!isAction(action)) {
    throw new IpamError(
      'bad-input',
      `line ${number} of the report begins with "${action}" instead of ${ACTIONS.join(', ')}`,
    );
  }
  if (name === undefined || uid === undefined || resourceVersion === undefined) {
    throw new IpamError('bad-input', `line ${number} of the report is cut off: it needs record, uid and version`);
  }
  return { action, name, uid, resourceVersion };
}

function isAction(word: string): word is ReportLine['action'] {
  return (ACTIONS as readonly string[]).includes(word);
}
