import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { CatalogSnapshot, PoolCatalog } from '../pool-catalog.ts';
import { assembleCatalog } from './assemble-catalog.ts';
import { listPoolFiles, type PoolFile, readPoolFile } from './pool-files.ts';

const SETTLE_MS = 50;
const POLL_MS = 2_000;

interface KnownFile {
  readonly stamp: string;
  /** The last state that made sense; null when there never was one. */
  readonly good: PoolFile | null;
  readonly problem: string | null;
}

/** Pools and reserved addresses from YAML files, kept current. A broken file keeps its last good state and is reported. */
export class PoolDirectory implements PoolCatalog, Disposable {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #listeners = new Set<() => void>();
  readonly #stop: (() => void)[] = [];
  #files = new Map<string, KnownFile>();
  #snapshot: CatalogSnapshot | null = null;
  #reloading: Promise<void> = Promise.resolve();

  private constructor(directory: string, log: Logger) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Throws when the directory cannot be read; single broken files only leave their pools out. */
  static async open(directory: string, log: Logger): Promise<PoolDirectory> {
    const catalog = new PoolDirectory(directory, log);
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
        this.#log.error({ why: toIpamError(thrown).message }, 'pools not reloaded, the last state stays'),
      );
    return this.#reloading;
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stop) stop();
  }

  /** Events make it quick, the poll makes it certain: not every file system reports. */
  #watch(): void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(this.#directory, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.reload(), SETTLE_MS);
    });
    watcher.on('error', () => watcher.close());
    const poll = setInterval(() => void this.reload(), POLL_MS);
    this.#stop.push(
      () => watcher.close(),
      () => clearInterval(poll),
      () => clearTimeout(timer),
    );
  }

  async #reload(): Promise<void> {
    const files = new Map<string, KnownFile>();
    for (const name of await listPoolFiles(this.#directory)) files.set(name, await this.#readIfChanged(name));
    if (this.#snapshot !== null && isSame(files, this.#files)) return;
    const good = [...files.values()].flatMap((file) => file.good ?? []);
    const problems = [...files.values()].flatMap((file) => file.problem ?? []);
    const before = this.#snapshot;
    this.#files = files;
    this.#snapshot = assembleCatalog(good, problems, before);
    this.#report(before);
    for (const listener of this.#listeners) listener();
  }

  async #readIfChanged(name: string): Promise<KnownFile> {
    const known = this.#files.get(name);
    const stamp = await stampOf(join(this.#directory, name));
    if (known?.stamp === stamp) return known;
    const read = await readPoolFile(this.#directory, name);
    if (read.ok) return { stamp, good: read.content, problem: null };
    return { stamp, good: known?.good ?? null, problem: read.problem };
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
  return stats === null ? 'missing' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

function isSame(a: ReadonlyMap<string, KnownFile>, b: ReadonlyMap<string, KnownFile>): boolean {
  return a.size === b.size && [...a].every(([name, file]) => b.get(name) === file);
}
