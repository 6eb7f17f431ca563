import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { decodeRecord } from '#pkg/record/decode-record.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** One line of the file. */
export type AnsweredChange = { readonly keep: IpRecord } | { readonly forget: string };

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
export class AnsweredLog {
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
