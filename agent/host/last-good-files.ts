import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '#agent/node/private-directory.ts';

/** The last valid text of each pool file, in the data directory. */
export class LastGoodFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async keep(name: string, text: string): Promise<void> {
    if ((await this.find(name)) === text) return;
    await makeDirectory(this.#directory);
    const unfinished = join(this.#directory, `.${name}`);
    await writeFile(unfinished, text, { mode: 0o600, flush: true });
    await rename(unfinished, join(this.#directory, name));
  }

  async find(name: string): Promise<string | null> {
    return await readFile(join(this.#directory, name), 'utf8').catch(() => null);
  }
}
