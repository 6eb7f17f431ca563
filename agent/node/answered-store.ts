import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedQueue } from '#agent/calls/call.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { decodeRecord } from '#pkg/record/decode-record.ts';
import { holderKey, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { refuseForeignDirectory } from './private-directory.ts';

/** A live sandbox of this node uses an address whose record belongs to another holder. */
export interface LostAddress {
  readonly record: IpRecord;
  readonly now: IpRecord;
}

export type OnStoreTrouble = (file: string, why: string) => void;

/**
 * Rule 9: the records that the sandboxes of this node were answered with, in memory and in the data directory. Nothing
 * is synced to the disk: the files must survive the agent, and namespaces do not survive a reboot either.
 */
export class AnsweredStore {
  readonly #directory: string;
  readonly #node: string;
  readonly #onTrouble: OnStoreTrouble;
  readonly #records = new Map<string, IpRecord>();
  /** The name of the record by interface and family. */
  readonly #byNic = new Map<string, string>();
  /** The writes of one file follow each other, so that the last one wins. */
  readonly #turns = new KeyedQueue();
  readonly #pending = new Set<Promise<void>>();
  /** The files that a full disk did not take. */
  readonly #unwritten = new Set<string>();
  #lost: readonly LostAddress[] = [];

  private constructor(directory: string, node: string, onTrouble: OnStoreTrouble) {
    this.#directory = directory;
    this.#node = node;
    this.#onTrouble = onTrouble;
  }

  static async open(directory: string, node: string, onTrouble: OnStoreTrouble): Promise<AnsweredStore> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await refuseForeignDirectory(directory);
    const store = new AnsweredStore(directory, node, onTrouble);
    for (const file of await readdir(directory)) await store.#load(file);
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
    if (isSame && !this.#unwritten.has(fileOf(record.name))) return;
    const before = this.#byNic.get(nicOf(record));
    if (before !== undefined && before !== record.name) this.forget(before);
    this.#put(record);
    // Written in place: a file that was cut short is dropped at the next start, and kept again at the next refresh.
    this.#onDisk(record.name, (path) => writeFile(path, JSON.stringify(record), { mode: 0o600 }));
  }

  forget(name: string): void {
    const known = this.#records.get(name);
    if (known === undefined) return;
    this.#remove(known);
    this.#onDisk(name, (path) => rm(path, { force: true }));
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

  /** Resolves when the files say what the memory says. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Off the path of the answer. What a full disk did not take is written again at the next refresh of the index. */
  #onDisk(name: string, change: (path: string) => Promise<void>): void {
    const file = fileOf(name);
    this.#unwritten.delete(file);
    const done = this.#turns
      .run([file], () => change(join(this.#directory, file)))
      .catch((thrown: unknown) => {
        this.#unwritten.add(file);
        this.#onTrouble(file, toIpamError(thrown).message);
      })
      .finally(() => this.#pending.delete(done));
    this.#pending.add(done);
  }

  async #load(file: string): Promise<void> {
    const path = join(this.#directory, file);
    try {
      const record = decodeRecord(JSON.parse(await readFile(path, 'utf8')));
      if (fileOf(record.name) === file) this.#put(record);
    } catch (thrown) {
      // The write was cut short. The record itself is in the ledger, and the next refresh keeps it again.
      this.#onTrouble(file, toIpamError(thrown).message);
      await rm(path, { force: true, recursive: true });
    }
  }
}

function fileOf(name: string): string {
  return `${name}.json`;
}

function nicOf(record: IpRecord): string {
  return holderKey(record.spec.holder, recordFamily(record));
}
