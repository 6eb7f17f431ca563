import { open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attachment, attachmentKey, KeyedQueue } from '#agent/calls/call.ts';
import { makeDirectory, refuseForeignDirectory } from '#agent/node/private-directory.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import type { Ledger, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { Holder, IpRecord } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import {
  attachmentOf,
  decodeEntry,
  entryFileName,
  type Fate,
  type JournalEntry,
  recordNameOf,
  releaseFileName,
  uidOf,
} from './journal-entry.ts';

const MOST_ENTRIES = 10_000;

/** What this node still has to settle with the ledger. When `write` resolves, the entry survives a crash of the machine. */
export class Journal {
  readonly #directory: string;
  readonly #entries = new Map<string, JournalEntry>();
  /** Writes of one file run one after the other, so that memory and disk agree. */
  readonly #turns = new KeyedQueue();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** A file that cannot be read is reported and not removed, so that an operator can look at it. */
  static async open(directory: string, onUnreadable: (file: string, why: string) => void): Promise<Journal> {
    await makeDirectory(directory);
    await refuseForeignDirectory(directory);
    const journal = new Journal(directory);
    for (const file of await readdir(directory)) {
      if (file.endsWith('.json')) await journal.#load(file, onUnreadable);
      // A partial write; or a directory, which is not ours and must not keep the agent from starting.
      else await unlink(join(directory, file)).catch((thrown) => onUnreadable(file, toIpamError(thrown).message));
    }
    return journal;
  }

  get size(): number {
    return this.#entries.size;
  }

  all(): JournalEntry[] {
    return [...this.#entries.values()];
  }

  has(entry: JournalEntry): boolean {
    return this.#entries.get(entryFileName(entry)) === entry;
  }

  /** The entries of this interface of the pod, from all its sandboxes; without a uid, those of this sandbox alone. */
  ofNic(attachment: Attachment, uid: string): JournalEntry[] {
    const key = attachmentKey(attachment);
    return this.all().filter((entry) => {
      const left = attachmentOf(entry);
      return attachmentKey(left) === key || (uid !== '' && uidOf(entry) === uid && left.ifName === attachment.ifName);
    });
  }

  ofRecord(name: string): JournalEntry[] {
    return this.all().filter((entry) => recordNameOf(entry) === name);
  }

  /** Whether this version of the record has an entry with this fate. */
  hasRelease(record: IpRecord, fate: Fate): boolean {
    const known = this.#entries.get(releaseFileName(record));
    return known?.kind === 'release' && known.fate === fate;
  }

  async write(entry: JournalEntry): Promise<void> {
    const file = entryFileName(entry);
    await this.#turns.run([file], () => this.#write(entry, file));
  }

  /** Removes exactly this entry: a newer one may have the same file name by now. */
  async remove(entry: JournalEntry): Promise<void> {
    const file = entryFileName(entry);
    await this.#turns.run([file], async () => {
      if (!this.has(entry)) return;
      this.#entries.delete(file);
      await unlink(join(this.#directory, file));
      await this.#sync();
    });
  }

  async #write(entry: JournalEntry, file: string): Promise<void> {
    if (!this.#entries.has(file) && this.#entries.size >= MOST_ENTRIES) {
      throw new IpamError('io-failure', `the journal ${this.#directory} already has ${MOST_ENTRIES} entries`);
    }
    const path = join(this.#directory, file);
    const unfinished = `${path}.unfinished`;
    {
      await using handle = await open(unfinished, 'w', 0o600);
      await handle.writeFile(JSON.stringify(entry));
      await handle.sync();
    }
    await rename(unfinished, path);
    await this.#sync();
    this.#entries.set(file, entry);
  }

  async #load(file: string, onUnreadable: (file: string, why: string) => void): Promise<void> {
    try {
      const entry = decodeEntry(JSON.parse(await readFile(join(this.#directory, file), 'utf8')));
      if (entryFileName(entry) !== file) throw new IpamError('bad-input', 'its content belongs to another file name');
      this.#entries.set(file, entry);
    } catch (thrown) {
      onUnreadable(file, toIpamError(thrown).message);
    }
  }

  async #sync(): Promise<void> {
    await using directory = await open(this.#directory, 'r');
    await directory.sync();
  }
}

/** To be called before an ADD is answered: afterwards no journal entry releases the records of the answer. */
export async function spareAnswered(records: readonly IpRecord[], journal: Journal): Promise<void> {
  for (const { name, uid } of records) {
    for (const entry of journal.ofRecord(name)) {
      if (entry.kind === 'release') await journal.remove(entry);
      else if (entry.spared !== uid) await journal.write({ ...entry, spared: uid });
    }
  }
}

/** Rule 5: a write with an unknown outcome is in the journal before its caller can try another name. */
export function journalled(ledger: Ledger, journal: Journal, now: () => Date): Ledger {
  const noteAbandoned = async (name: string, holder: Holder, isChange: boolean, spared?: string): Promise<void> => {
    const { uid = '', containerID = '', interface: nic } = holder;
    const at = now().toISOString();
    const entry = { kind: 'abandoned', name, uid, containerID, interface: nic, isChange, at } as const;
    await journal.write(spared === undefined ? entry : { ...entry, spared });
  };
  const watched = async <T>(holder: Holder, isChange: boolean, write: () => Promise<T>): Promise<T> => {
    try {
      return await write();
    } catch (thrown) {
      const name = abandonedName(thrown);
      if (name !== null) await noteAbandoned(name, holder, isChange);
      throw thrown;
    }
  };
  const change = (holder: Holder, write: () => Promise<UpdateOutcome>) => watched(holder, true, write);
  return ledgerWith(ledger, {
    create: async (spec, limits) => {
      const outcome = await watched(spec.holder, false, () => ledger.create(spec, limits));
      if (outcome.mayStillLand === true) {
        const name = recordName(parseAddress(spec.address), spec.domain);
        await noteAbandoned(name, spec.holder, false, outcome.taken ? outcome.record.uid : undefined);
      }
      return outcome;
    },
    takeOver: (seen, next, limits) => change(next.holder, () => ledger.takeOver(seen, next, limits)),
    amend: (seen, next, limits) => change(next.holder, () => ledger.amend(seen, next, limits)),
  });
}
