import type { Logger } from 'pino';
import type { BeginLooks } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { Pods } from '#agent/sources/pods.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { type IpRecord, ownedKey } from '#pkg/record/ip-record.ts';
import type { RecordRestorer } from './record-restorer.ts';
import type { Releaser } from './releaser.ts';

export interface RefreshDeps {
  readonly ledger: Ledger;
  /** This node's records, as the ledger has them now. */
  readonly read: () => Promise<IpRecord[]>;
  readonly index: NodeIndex;
  readonly releaser: Releaser;
  readonly pods: Pick<Pods, 'known'>;
  readonly beginLooks: BeginLooks;
  readonly node: string;
  /** The machine id of this host; undefined where it has none. */
  readonly machineID?: string | undefined;
  /** Creates lost records of live sandboxes again (rule 9), before an ADD can take their addresses. */
  readonly restorer: Pick<RecordRestorer, 'restore'>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** The index' own look at the ledger: what others did to this node's records, and what landed behind its back. */
export async function refreshIndex(deps: RefreshDeps): Promise<void> {
  const { index, nowMs } = deps;
  const listedAtMs = nowMs();
  const listed = new Map((await deps.read()).map((record) => [record.name, record]));
  warnOfOtherHosts([...listed.values()], deps);
  for (const known of index.all()) {
    const isOlder = (index.writtenAtMs(known.name) ?? listedAtMs) < listedAtMs;
    if (isOlder && !listed.has(known.name)) index.drop(known);
  }
  for (const record of listed.values()) {
    const writtenAtMs = index.writtenAtMs(record.name);
    // What was written meanwhile is newer than the list.
    if (writtenAtMs === null || writtenAtMs < listedAtMs) index.refresh(record);
  }
  await deps.restorer.restore(listed, listedAtMs);
  await reclaimSuspects(deps);
  await dropSecondRecords(deps, listedAtMs);
}

/** Their sandboxes cannot be seen from here, so this agent does not release their records (rule 6). */
function warnOfOtherHosts(records: readonly IpRecord[], { machineID, node, log }: RefreshDeps): void {
  if (machineID === undefined) return;
  const others = records.filter(({ spec: { holder } }) => (holder.machineID ?? machineID) !== machineID);
  if (others.length === 0) return;
  const fields = {
    node,
    records: others.length,
    machineIDs: [...new Set(others.map((it) => it.spec.holder.machineID))],
  };
  log.warn(
    fields,
    'records of this node name are of another host: two hosts have one node name, or it was reinstalled',
  );
}

/** Rule 3: it was only suspected to be gone, and this node sees that it is not. */
async function reclaimSuspects({ ledger, index, pods, beginLooks, log }: RefreshDeps): Promise<void> {
  const look = beginLooks();
  for (const record of index.all().filter(({ spec }) => spec.state === 'Suspect')) {
    const { uid = '' } = record.spec.holder;
    if (pods.known(uid)?.isAlive !== true || (await look(record.spec.holder)) !== 'there') continue;
    const holder = { ...record.spec.holder, attachGeneration: record.spec.holder.attachGeneration + 1 };
    const outcome = await ledger.amend(record, { ...record.spec, state: 'Allocated', holder });
    index.drop(record);
    if (outcome.done) index.put(outcome.record);
    log.warn({ address: record.spec.address, uid, done: outcome.done }, 'Suspect address is in use here');
  }
}

/** Rule 4: of two records for one interface and family the one that an ADD was answered with stays. */
async function dropSecondRecords({ index, releaser, log }: RefreshDeps, judgedAtMs: number): Promise<void> {
  const groups = Map.groupBy(
    index.all().filter(({ spec }) => spec.state === 'Allocated'),
    ownedKey,
  );
  for (const records of groups.values()) {
    const answered = records.filter((record) => index.isAnswered(record));
    if (records.length < 2 || answered.length !== 1) continue;
    for (const record of records.filter((it) => it !== answered[0])) {
      const outcome = await releaser.releaseJudged(record, judgedAtMs, 'at-once');
      log.warn({ address: record.spec.address, outcome }, 'second address of one interface given back');
    }
  }
}
