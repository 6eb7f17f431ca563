import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { CatalogSnapshot, PoolCatalog } from '#agent/sources/pool-catalog.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { assembleCatalog } from './assemble-catalog.ts';
import type { LastGoodFiles } from './last-good-files.ts';
import { listPoolFiles, type PoolFile, parsePoolFile, readPoolText } from './pool-files.ts';

const SETTLE_MS = 50;
const POLL_MS = 2_000;

interface KnownFile {
  readonly stamp: string;
  /** The last valid state; null when there never was one. */
  readonly good: PoolFile | null;
  readonly problem: string | null;
}

export interface PoolDirectoryOptions {
  /** Keeps the last valid text of each file over restarts: a reservation must not end because its file became invalid. */
  readonly lastGood: LastGoodFiles;
  readonly domainsInUse: () => ReadonlyMap<string, string>;
  readonly log: Logger;
}

/** Pools and reserved addresses from YAML files, kept current. An invalid file keeps its last valid state and is reported. */
export class PoolDirectory implements PoolCatalog, Disposable {
  readonly #directory: string;
  readonly #options: PoolDirectoryOptions;
  readonly #log: Logger;
  readonly #listeners = new Set<() => void>();
  readonly #stop: (() => void)[] = [];
  #files = new Map<string, KnownFile>();
  #snapshot: CatalogSnapshot | null = null;
  #reloading: Promise<void> = Promise.resolve();

  private constructor(directory: string, options: PoolDirectoryOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#log = options.log;
  }

  /** Throws when the directory cannot be read; an invalid file only leaves out its pools. */
  static async open(directory: string, options: PoolDirectoryOptions): Promise<PoolDirectory> {
    const catalog = new PoolDirectory(directory, options);
    await catalog.#reload();
    catalog.#watch();
    return catalog;
  }

  current(): CatalogSnapshot {
    if (this.#snapshot === null) throw new Error('the pool directory has not been read yet');
    return this.#snapshot;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  reload(): Promise<void> {
    this.#reloading = this.#reloading
      .then(() => this.#reload())
      .catch((thrown: unknown) =>
        this.#log.error({ why: toIpamError(thrown).message }, 'pools not reloaded, keeping the last state'),
      );
    return this.#reloading;
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stop) stop();
  }

  /** Events are fast, and the poll is reliable: not every file system sends events. */
  #watch(): void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = this.#tryWatch(() => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.reload(), SETTLE_MS);
    });
    const poll = setInterval(() => void this.reload(), POLL_MS);
    this.#stop.push(
      () => watcher?.close(),
      () => clearInterval(poll),
      () => clearTimeout(timer),
    );
  }

  /** The limit of the kernel for watches may be reached. */
  #tryWatch(onEvent: () => void): FSWatcher | null {
    try {
      const watcher = watch(this.#directory, onEvent);
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch (thrown) {
      this.#log.warn({ why: toIpamError(thrown).message }, 'pools directory cannot be watched, polling it');
      return null;
    }
  }

  async #reload(): Promise<void> {
    const files = new Map<string, KnownFile>();
    for (const name of await listPoolFiles(this.#directory)) files.set(name, await this.#readIfChanged(name));
    if (this.#snapshot !== null && isSame(files, this.#files)) return;
    const good = [...files.values()].flatMap((file) => file.good ?? []);
    const problems = [...files.values()].flatMap((file) => file.problem ?? []);
    const before = this.#snapshot;
    this.#files = files;
    this.#snapshot = assembleCatalog(good, problems, before, this.#options.domainsInUse());
    this.#report(before);
    for (const listener of this.#listeners) listener();
  }

  async #readIfChanged(name: string): Promise<KnownFile> {
    const known = this.#files.get(name);
    const stamp = await stampOf(join(this.#directory, name));
    if (known?.stamp === stamp) return known;
    const read = await readPoolText(this.#directory, name);
    const parsed = read.ok ? parsePoolFile(name, read.text) : read;
    if (!parsed.ok) return { stamp, good: known?.good ?? (await this.#lastGood(name)), problem: parsed.problem };
    if (read.ok) await this.#options.lastGood.keep(name, read.text);
    return { stamp, good: parsed.content, problem: null };
  }

  async #lastGood(name: string): Promise<PoolFile | null> {
    const text = await this.#options.lastGood.find(name);
    const parsed = text === null ? null : parsePoolFile(name, text);
    return parsed?.ok === true ? parsed.content : null;
  }

  #report(before: CatalogSnapshot | null): void {
    const { pools, problems } = this.current();
    const known = new Set(before?.problems);
    for (const problem of problems) if (!known.has(problem)) this.#log.error({ problem }, 'pool file not used');
    this.#log.info({ pools: pools.size, problems: problems.length }, 'pools loaded');
  }
}

async function stampOf(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => null);
  return stats === null ? 'missing' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

function isSame(a: ReadonlyMap<string, KnownFile>, b: ReadonlyMap<string, KnownFile>): boolean {
  return a.size === b.size && [...a].every(([name, file]) => b.get(name) === file);
}
