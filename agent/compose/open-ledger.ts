import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Journal, journalled } from '#agent/debts/journal.ts';
import { AnsweredStore } from '#agent/node/answered-store.ts';
import { heldAfterRestore, LedgerRevisions } from '#agent/node/ledger-revisions.ts';
import { NodeIndex } from '#agent/node/node-index.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { readRevision } from '#pkg/ledger/kubernetes/kubernetes-list.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';

interface LedgerPlace {
  readonly client: KubeClient;
  readonly dataDirectory: string;
  readonly node: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** The ledger of the cluster, and what this agent remembers of it in memory and in its data directory. */
export interface NodeLedger {
  readonly ledger: Ledger;
  /** Without journal and hold, to write records back (rule 9). */
  readonly raw: Ledger;
  readonly journal: Journal;
  readonly answered: AnsweredStore;
  readonly revisions: LedgerRevisions;
  readonly index: NodeIndex;
}

export async function openLedger(
  { client, dataDirectory, node, nowMs, log }: LedgerPlace,
  starting: AsyncDisposableStack,
): Promise<NodeLedger> {
  const journal = await openJournal(dataDirectory, log);
  const answered = await openAnswered(dataDirectory, node, log);
  starting.defer(() => answered.settled());
  const revisions = new LedgerRevisions(nowMs);
  for (const record of answered.all()) revisions.note(record);
  await rememberRestores(revisions, join(dataDirectory, 'restored'));
  const raw = openKubernetesLedger(client, {
    onUnreadable: (name, why) => log.error({ record: name, why }, 'record cannot be read'),
  });
  starting.defer(() => raw.close());
  const held = heldAfterRestore(raw, revisions, () => readRevision(client));
  const ledger = journalled(held, journal, () => new Date());
  const index = new NodeIndex(nowMs, answered);
  return { ledger, raw, journal, answered, revisions, index };
}

/** The time of the file says when a restore was noticed: a restart in the minute after it must not end the hold. */
async function rememberRestores(revisions: LedgerRevisions, file: string): Promise<void> {
  const noticed = await stat(file).catch(() => null);
  if (noticed !== null) revisions.resume(Date.now() - noticed.mtimeMs);
  revisions.onFall(() => void writeFile(file, '', { mode: 0o600 }).catch(() => {}));
}

async function openAnswered(dataDirectory: string, node: string, log: Logger): Promise<AnsweredStore> {
  return await AnsweredStore.open(join(dataDirectory, 'answered'), node, (file, why) =>
    log.warn({ file, why }, 'answered attachment not kept on disk'),
  );
}

async function openJournal(dataDirectory: string, log: Logger): Promise<Journal> {
  return await Journal.open(join(dataDirectory, 'journal'), (file, why) =>
    log.error({ file, why }, 'journal entry cannot be read and is skipped'),
  );
}
