import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { decodeRecord } from '#pkg/record/decode-record.ts';
import { holderKey, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { type AnsweredChange, AnsweredLog } from './answered-log.ts';
import { refuseForeignDirectory } from './private-directory.ts';

/** A live sandbox of this node uses an address whose record belongs to another holder. */
export interface LostAddress {
  readonly record: IpRecord;
  readonly now: IpRecord;
}

export type OnStoreTrouble = (file: string, why: string) => void;

const LOG_FILE = 'records.log';

/**
 * Rule 9: the records that the sandboxes of this node were answered with, in memory and in the data directory. Nothing
 * is synced to the disk: the file must survive the agent, and namespaces do not survive a reboot either.
 */
export class AnsweredStore {
  readonly #node: string;
  readonly #records = new Map<string, IpRecord>();
  /** The name of the record by interface and family. */
  readonly #byNic = new Map<string, string>();
  readonly #log: AnsweredLog;
  #lost: readonly LostAddress[] = [];

  private constructor(directory: string, node: string, onTrouble: OnStoreTrouble) {
    this.#node = node;
    this.#log = new AnsweredLog(join(directory, LOG_FILE), this.#records, (why) => onTrouble(LOG_FILE, why));
  }

  static async open(directory: string, node: string, onTrouble: OnStoreTrouble): Promise<AnsweredStore> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await refuseForeignDirectory(directory);
    const store = new AnsweredStore(directory, node, onTrouble);
    const files = await readdir(directory);
    const older = files.filter((file) => file.endsWith('.json')).map((file) => join(directory, file));
    for (const path of older) await store.#loadOlder(path, onTrouble);
    for (const change of await store.#log.read()) store.#apply(change);
    if (files.length > 0)
      await store.#log.replace().catch((thrown) => onTrouble(LOG_FILE, toIpamError(thrown).message));
    if (!store.#log.isIncomplete) await Promise.all(older.map((path) => rm(path, { force: true, recursive: true })));
    return store;
  }

  all(): IpRecord[] {
    return [...this.#records.values()];
  }

  /** Those of them that another holder has by now, as of the last refresh. */
  get lost(): readonly LostAddress[] {
    return this.#lost;
  }

  noteLost(lost: readonly LostAddress[]): void {
    this.#lost = lost;
  }

  has(record: IpRecord): boolean {
    return this.#records.get(record.name) === record;
  }

  knows(name: string): boolean {
    return this.#records.has(name);
  }

  /** An interface has one address of a family: what it was answered with before is forgotten. */
  keep(record: IpRecord): void {
    // The target of a migration is answered with a record of the source node, which keeps it there.
    if (record.spec.holder.node !== this.#node) return;
    const known = this.#records.get(record.name);
    const isSame = known?.uid === record.uid && known.resourceVersion === record.resourceVersion;
    if (isSame && !this.#log.isIncomplete) return;
    const before = this.#byNic.get(nicOf(record));
    if (before !== undefined && before !== record.name) this.forget(before);
    this.#put(record);
    this.#log.append({ keep: record });
  }

  forget(name: string): void {
    const known = this.#records.get(name);
    if (known === undefined) return;
    this.#remove(known);
    this.#log.append({ forget: name });
  }

  #put(record: IpRecord): void {
    const known = this.#records.get(record.name);
    if (known !== undefined) this.#remove(known);
    this.#records.set(record.name, record);
    this.#byNic.set(nicOf(record), record.name);
  }

  #remove(record: IpRecord): void {
    this.#records.delete(record.name);
    if (this.#byNic.get(nicOf(record)) === record.name) this.#byNic.delete(nicOf(record));
  }

  /** Resolves when the file says what the memory says, or the disk did not take it: then the next refresh writes it. */
  settled(): Promise<void> {
    return this.#log.settled();
  }

  #apply(change: AnsweredChange): void {
    const known = 'keep' in change ? undefined : this.#records.get(change.forget);
    if ('keep' in change) this.#put(change.keep);
    else if (known !== undefined) this.#remove(known);
  }

  /** Older agents wrote a file for each record. */
  async #loadOlder(path: string, onTrouble: OnStoreTrouble): Promise<void> {
    try {
      this.#put(decodeRecord(JSON.parse(await readFile(path, 'utf8'))));
    } catch (thrown) {
      onTrouble(basename(path), toIpamError(thrown).message);
    }
  }
}

function nicOf(record: IpRecord): string {
  return holderKey(record.spec.holder, recordFamily(record));
}
