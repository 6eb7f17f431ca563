import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { HomeNetns } from './home-netns.ts';
import { openNetnsFile } from './netns-file.ts';
import { NETNS_DIRECTORIES } from './netns-path.ts';
import { ProbeFailure } from './probe-failure.ts';
import { SystemCallError } from './system-call-error.ts';

const HEADER_LINES = 2;

/** The names of the links in a network namespace. To be made at boot, before anything enters a namespace. */
export class NetnsLinks implements Disposable {
  readonly #home = new HomeNetns();
  readonly #directories: readonly string[];
  #isDisposed = false;

  constructor(directories: readonly string[] = NETNS_DIRECTORIES) {
    this.#directories = directories;
  }

  /** Null where they cannot be read, or where the namespace at the path is another one. */
  namesIn(path: string, inode: number): readonly string[] | null {
    if (this.#isDisposed) return null;
    try {
      using netns = openNetnsFile(path, this.#directories);
      return fstatSync(netns.fd).ino === inode ? this.#read(netns.fd) : null;
    } catch (thrown) {
      if (thrown instanceof ProbeFailure || thrown instanceof SystemCallError) return null;
      throw thrown;
    }
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#home[Symbol.dispose]();
  }

  /** The file shows the namespace in which it was opened, even if it is read in another. */
  #read(netns: number): string[] {
    const fd = this.#home.openLinkListIn(netns);
    try {
      const lines = readFileSync(fd, 'utf8').trimEnd().split('\n').slice(HEADER_LINES);
      return lines.map((line) => line.slice(0, line.indexOf(':')).trim());
    } finally {
      closeSync(fd);
    }
  }
}
