import type { Logger } from 'pino';
import { attachmentKey, type KeyedQueue } from '#agent/calls/call.ts';
import type { EntryBackoff } from '#agent/debts/entry-backoff.ts';
import type { Journal } from '#agent/debts/journal.ts';
import {
  type AbandonedName,
  attachmentOf,
  isLeftBehind,
  type JournalEntry,
  type JournalledRelease,
  recordNameOf,
} from '#agent/debts/journal-entry.ts';
import { ROUND_MS } from '#agent/debts/round.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { GiveBack } from './give-back.ts';

/** No API server works on a request for longer; what lands after this is found by the index' own look at the ledger. */
const MAY_LAND_MS = 10 * 60_000;

export interface SettleDeps {
  readonly journal: Journal;
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly giveBack: GiveBack;
  readonly queue: KeyedQueue;
  readonly backoff: EntryBackoff;
  readonly node: string;
  readonly now: () => Date;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** The API server is silent, or fails at this object. */
const UNANSWERED: readonly Reason[] = ['api-server-unavailable', 'outcome-unknown'];
/** After so many in a row it is the ledger that is away, and not one object that it fails at. */
const MOST_UNANSWERED = 3;

/**
 * Goes once through all waiting releases and abandoned names. What cannot be settled now stays for the next round:
 * all of it where the ledger is away, and only the entry itself, for a while, where it was refused or has no answer.
 */
export async function settleJournal(deps: SettleDeps): Promise<void> {
  const endsAtMs = deps.nowMs() + ROUND_MS;
  let unanswered = 0;
  for (const entry of deps.backoff.due(deps.journal.all())) {
    if (deps.nowMs() >= endsAtMs || unanswered === MOST_UNANSWERED) return;
    try {
      await deps.queue.run([attachmentKey(attachmentOf(entry))], () => settleEntry(entry, deps));
      unanswered = 0;
    } catch (thrown) {
      const fields = { record: recordNameOf(entry), kind: entry.kind, why: toIpamError(thrown).message };
      deps.log.warn(fields, 'journal entry not settled, tried again later');
      const isUnanswered = UNANSWERED.includes(toIpamError(thrown).reason);
      unanswered = isUnanswered ? unanswered + 1 : 0;
      if (isUnanswered) deps.backoff.unanswered(entry);
      else deps.backoff.failed(entry);
    }
  }
}

async function settleEntry(entry: JournalEntry, deps: SettleDeps): Promise<void> {
  // An ADD before us in the queue may have consumed it.
  if (!deps.journal.has(entry)) return;
  if (entry.kind === 'release') await settleRelease(entry, deps);
  else await settleAbandoned(entry, deps);
}

async function settleRelease(entry: JournalledRelease, { journal, giveBack, log }: SettleDeps): Promise<void> {
  const outcome = await giveBack.settle(entry.record, entry.fate);
  await journal.remove(entry);
  log.info({ address: entry.record.spec.address, outcome, since: entry.at }, 'release from the journal');
}

async function settleAbandoned(entry: AbandonedName, deps: SettleDeps): Promise<void> {
  const { journal, ledger, index, giveBack, backoff, node, now, log } = deps;
  const isOver = now().getTime() - Date.parse(entry.at) > MAY_LAND_MS;
  const found = await ledger.get(entry.name);
  if (entry.isChange) {
    if (found?.spec.holder.node === node) index.put(found);
    return await journal.remove(entry);
  }
  if (found !== null && found.spec.holder.node === node && isLeftBehind(found, entry)) {
    const outcome = await giveBack.settleUnanswered(found);
    log.warn(
      { address: found.spec.address, containerID: entry.containerID, outcome },
      'abandoned create arrived late: its address is given back',
    );
  } else backoff.failed(entry);
  if (isOver) await journal.remove(entry);
}
