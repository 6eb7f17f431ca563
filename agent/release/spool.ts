import { type Dirent, existsSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeSpooledDel, spoolFileName } from '#pkg/agentapi/spooled-del.ts';
import type { DelArgs } from '#pkg/agentapi/wire.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Attachment } from './attachment.ts';

const MAX_FILE_BYTES = 64 * 1024;
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
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
  }

  has(attachment: Attachment): boolean {
    return existsSync(this.#path(spoolFileName(attachment)));
  }

  async names(): Promise<string[]> {
    const found = await readdir(this.#directory, { withFileTypes: true });
    const isEntry = ({ name }: Dirent) => name.endsWith('.json') && !name.startsWith('.');
    return found.filter((it) => it.isFile() && isEntry(it)).map((it) => it.name);
  }

  /** A plugin that was killed while it wrote leaves a dot file behind; nobody finishes one after so long. */
  async removeUnfinished(olderThan: Date): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      if (!name.startsWith('.')) continue;
      const { mtime } = await lstat(this.#path(name)).catch(() => ({ mtime: new Date() }));
      if (mtime < olderThan) await unlink(this.#path(name)).catch(() => {});
    }
  }

  async read(name: string): Promise<SpoolEntry> {
    try {
      const { size } = await stat(this.#path(name));
      if (size > MAX_FILE_BYTES)
        return { kind: 'poison', why: `it has ${size} bytes, at most ${MAX_FILE_BYTES} are allowed` };
      const { del } = decodeSpooledDel(JSON.parse(await readFile(this.#path(name), 'utf8')));
      if (spoolFileName(del) !== name) return { kind: 'poison', why: 'its content belongs to another file name' };
      return { kind: 'del', args: del };
    } catch (thrown) {
      if (isMissing(thrown)) return { kind: 'gone' };
      return { kind: 'poison', why: toIpamError(thrown).message };
    }
  }

  /** Durable: an entry that was applied or consumed must not come back after a power cut. */
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

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}
