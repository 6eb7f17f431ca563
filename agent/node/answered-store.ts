import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { decodeRecord } from '#pkg/record/decode-record.ts';
import { type IpRecord, recordKey } from '#pkg/record/ip-record.ts';
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
    const before = this.#byNic.get(recordKey(record));
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
    this.#byNic.set(recordKey(record), record.name);
  }

  #remove(record: IpRecord): void {
    this.#records.delete(record.name);
    if (this.#byNic.get(recordKey(record)) === record.name) this.#byNic.delete(recordKey(record));
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

/** One line of the file. */
type AnsweredChange = { readonly keep: IpRecord } | { readonly forget: string };

/** The file may have this many lines that later ones have made obsolete, and as many again as there are records. */
const FEW_LINES = 1_000;
/** With more changes than this in line, writing all records is less work. */
const MOST_WAITING = 1_000;
const MODE = { mode: 0o600 };

/**
 * The changes of a set of records as lines of one file. An ADD appends one: a file for each record would cost the agent five
 * times the CPU. Nothing is synced to the disk. A write that failed may have ended inside a line, so the next one replaces
 * the whole file.
 */
class AnsweredLog {
  readonly #path: string;
  readonly #records: ReadonlyMap<string, IpRecord>;
  readonly #onTrouble: (why: string) => void;
  #waiting: AnsweredChange[] = [];
  #writing: Promise<void> | null = null;
  #lines = 0;
  #mustReplace = false;

  /** `records` is what the changes amount to; it changes first. */
  constructor(path: string, records: ReadonlyMap<string, IpRecord>, onTrouble: (why: string) => void) {
    this.#path = path;
    this.#records = records;
    this.#onTrouble = onTrouble;
  }

  /** A line that cannot be read was cut short. The record itself is in the ledger, and the next refresh keeps it again. */
  async read(): Promise<AnsweredChange[]> {
    const text = await readFile(this.#path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'ENOENT') this.#onTrouble(thrown.message);
      return '';
    });
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => {
      try {
        return [decodeChange(JSON.parse(line))];
      } catch (thrown) {
        this.#onTrouble(toIpamError(thrown).message);
        return [];
      }
    });
  }

  /** Whether the file lacks a change, because the disk did not take it. */
  get isIncomplete(): boolean {
    return this.#mustReplace;
  }

  append(change: AnsweredChange): void {
    if (this.#waiting.length === MOST_WAITING) {
      this.#waiting = [];
      this.#mustReplace = true;
    }
    this.#waiting.push(change);
    this.#writing ??= this.#write();
  }

  /** Writes a file of the records alone. */
  async replace(): Promise<void> {
    const lines = [...this.#records.values()].map((keep) => toLine({ keep }));
    this.#mustReplace = true;
    await writeFile(`${this.#path}.new`, lines.join(''), MODE);
    await rename(`${this.#path}.new`, this.#path);
    this.#mustReplace = false;
    this.#lines = lines.length;
  }

  /** Resolves when the file has all changes that the disk took. */
  async settled(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** What comes while the disk is busy is written together. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const changes = this.#waiting;
      this.#waiting = [];
      const isLong = this.#lines > FEW_LINES + 2 * this.#records.size;
      await (isLong || this.#mustReplace ? this.replace() : this.#add(changes)).catch((thrown: unknown) => {
        this.#mustReplace = true;
        this.#onTrouble(toIpamError(thrown).message);
      });
    }
    this.#writing = null;
  }

  async #add(changes: readonly AnsweredChange[]): Promise<void> {
    await appendFile(this.#path, changes.map(toLine).join(''), MODE);
    this.#lines += changes.length;
  }
}

function toLine(change: AnsweredChange): string {
  return `${JSON.stringify(change)}\n`;
}

function decodeChange(value: { keep?: unknown; forget?: unknown }): AnsweredChange {
  return typeof value.forget === 'string' ? { forget: value.forget } : { keep: decodeRecord(value.keep) };
}
