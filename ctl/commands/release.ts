import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { toHolderText } from '#ctl/render/holder-text.ts';
import { toPrintable } from '#ctl/render/printable.ts';
import { renderRecord } from '#ctl/render/render-record.ts';
import { renderWho } from '#ctl/render/render-who.ts';
import type { ReleaseAnswer } from '#pkg/agentapi/admin.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { parseAddressArgument } from './address-argument.ts';
import { releaseFromReport } from './release-report.ts';

export interface ReleaseOptions {
  readonly domain?: string;
  readonly fromReport?: string;
  readonly althoughInDoubt: boolean;
  readonly yes: boolean;
}

export async function releaseAsked(
  session: Session,
  address: string | undefined,
  options: ReleaseOptions,
): Promise<ExitCode> {
  const { fromReport, domain, althoughInDoubt, yes } = options;
  if (fromReport === undefined && address !== undefined) return await release(session, address, options);
  if (fromReport === undefined || address !== undefined || domain !== undefined) {
    throw new IpamError('bad-input', 'give an address (and perhaps --domain), or --from-report FILE');
  }
  if (althoughInDoubt) {
    throw new IpamError('bad-input', 'in a report, each line says it: release-in-doubt instead of release');
  }
  return await releaseFromReport(session, fromReport, yes);
}

/** Releases exactly the record that was shown. If it changes before the operator confirms, the release is refused. */
async function release(session: Session, address: string, options: ReleaseOptions): Promise<ExitCode> {
  const { client, terminal } = session;
  const answer = await client.who(parseAddressArgument(address), options.domain);
  const [record, ...others] = answer.records;
  if (record === undefined) {
    terminal.complain(renderWho(toPrintable(answer), terminal.nowMs()));
    return 1;
  }
  if (others.length > 0) {
    const domains = answer.records.map(({ spec }) => spec.domain).join(', ');
    throw new IpamError('bad-input', `${address} is held in several domains (${domains}): choose one with --domain`);
  }
  if (!options.yes && !(await confirm(session, toPrintable(record)))) {
    terminal.complain('Nothing was released.\n');
    return 1;
  }
  const { name, uid, resourceVersion } = record;
  const doubt = options.althoughInDoubt ? { althoughInDoubt: true } : {};
  const outcome = await client.release({ name, uid, resourceVersion, asOfMs: answer.asOfMs, ...doubt });
  show(session, outcome, (shown) => renderRelease(toPrintable(record), shown));
  return outcome.released ? 0 : 1;
}

async function confirm({ terminal }: Session, record: IpRecord): Promise<boolean> {
  if (!terminal.isInteractive) {
    throw new IpamError('bad-input', 'the release cannot be confirmed: stdin is not a terminal', {
      details: 'In a script say --yes.',
    });
  }
  terminal.complain(renderRecord(record, terminal.nowMs()));
  const reply = await terminal.ask(
    `Release ${record.spec.address}, held by ${toHolderText(record.spec.holder)}? [y/N] `,
  );
  return /^y(es)?$/i.test(reply.trim());
}

function renderRelease({ spec }: IpRecord, { released, because }: ReleaseAnswer): string {
  if (released) return `Released ${spec.address}, held by ${toHolderText(spec.holder)}.\n`;
  if (because === 'gone') return `Not released: ${spec.address} was already given back.\n`;
  return `Not released: the record of ${spec.address} changed meanwhile. Look again: ipledgerctl who ${spec.address}\n`;
}
