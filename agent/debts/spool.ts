import { lstatSync, readdirSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attachment } from '#agent/calls/call.ts';
import { makeDirectory, refuseForeignDirectory } from '#agent/node/private-directory.ts';
import { decodeSpooledDel, spoolFileName } from '#pkg/agentapi/decode-args.ts';
import type { DelArgs, SpooledDel } from '#pkg/agentapi/wire.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';

const MAX_FILE_BYTES = 64 * 1024;
/** After this time no plugin still writes its file. */
const UNFINISHED_AFTER_MS = 3_600_000;
const POISON = 'poison';

export type SpoolEntry =
  | { readonly kind: 'del'; readonly args: DelArgs }
  | { readonly kind: 'gone' }
  | { readonly kind: 'poison'; readonly why: string };

/** DELs that the plugin wrote down while the agent was away, one file per attachment. */
export class Spool {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async prepare(): Promise<void> {
    await makeDirectory(this.#directory);
    await refuseForeignDirectory(this.#directory);
  }

  /** Identifies the DEL of this attachment that is spooled now; a later DEL gives another text. Null: none. */
  find(attachment: Attachment): string | null {
    const path = this.#path(spoolFileName(attachment));
    const found = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    return found?.isFile() === true ? `${found.ino} ${found.mtimeNs}` : null;
  }

  /** All files that are named like an entry; `read` checks their content. */
  async names(): Promise<string[]> {
    await refuseForeignDirectory(this.#directory);
    const found = await readdir(this.#directory);
    return found.filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  }

  count(): number {
    return readdirSync(this.#directory).filter((name) => name.endsWith('.json')).length;
  }

  /** A plugin that was killed while it wrote leaves a dot file. */
  async removeUnfinished(now: Date): Promise<void> {
    const olderThan = new Date(now.getTime() - UNFINISHED_AFTER_MS);
    for (const name of await readdir(this.#directory)) {
      if (!name.startsWith('.')) continue;
      const { mtime } = await lstat(this.#path(name)).catch(() => ({ mtime: new Date() }));
      if (mtime < olderThan) await unlink(this.#path(name)).catch(() => {});
    }
  }

  /** Bad content is poison; a system error is thrown, and the entry stays for the next round. */
  async read(name: string): Promise<SpoolEntry> {
    try {
      const stats = await lstat(this.#path(name));
      if (!stats.isFile()) return { kind: 'poison', why: 'it is not a plain file' };
      if (stats.uid !== process.geteuid?.()) return { kind: 'poison', why: `it belongs to user ${stats.uid}` };
      if (stats.size > MAX_FILE_BYTES) {
        return { kind: 'poison', why: `it has ${stats.size} bytes, at most ${MAX_FILE_BYTES} are allowed` };
      }
      return decodeEntry(name, await readFile(this.#path(name), 'utf8'));
    } catch (thrown) {
      if (isMissing(thrown)) return { kind: 'gone' };
      throw thrown;
    }
  }

  /** Written with fsync. An entry of the same attachment that exists already is equal. */
  async keep(args: DelArgs): Promise<void> {
    const name = spoolFileName(args);
    const unfinished = this.#path(`.${name}.agent`);
    {
      await using handle = await open(unfinished, 'w', 0o600);
      await handle.writeFile(JSON.stringify({ version: 1, del: args } satisfies SpooledDel));
      await handle.sync();
    }
    await this.#change(() => rename(unfinished, this.#path(name)));
  }

  /** With fsync: an entry that was applied must not come back after a power cut. */
  async remove(attachment: Attachment): Promise<void> {
    await this.#change(() => unlink(this.#path(spoolFileName(attachment))));
  }

  async setAside(name: string): Promise<void> {
    await mkdir(this.#path(POISON), { recursive: true, mode: 0o700 });
    await this.#change(() => rename(this.#path(name), this.#path(join(POISON, name))));
  }

  async poison(): Promise<string[]> {
    return await readdir(this.#path(POISON)).catch(() => []);
  }

  async #change(change: () => Promise<void>): Promise<void> {
    await change().catch((thrown: unknown) => {
      if (!isMissing(thrown)) throw thrown;
    });
    await using directory = await open(this.#directory, 'r');
    await directory.sync();
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function decodeEntry(name: string, text: string): SpoolEntry {
  try {
    const { del } = decodeSpooledDel(JSON.parse(text));
    if (spoolFileName(del) === name) return { kind: 'del', args: del };
    return { kind: 'poison', why: 'its content belongs to another file name' };
  } catch (thrown) {
    return { kind: 'poison', why: toIpamError(thrown).message };
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}
