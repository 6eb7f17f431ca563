import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { launchEnvironment } from '#test/support/built.ts';

const MOST_LINES = 200_000;

export interface MortalWish {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A program that is killed, paused and restarted on the same directories. */
export class MortalProcess implements AsyncDisposable {
  readonly name: string;
  readonly #wish: MortalWish;
  readonly #lines: string[] = [];
  #child: ChildProcess | null = null;

  constructor(wish: MortalWish) {
    this.name = wish.name;
    this.#wish = wish;
  }

  get isUp(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Does nothing if it runs. Returns before it is ready. */
  start(): void {
    if (this.isUp) return;
    const { program, args, env } = this.#wish;
    // With --pdeathsig the kernel ends it when this process dies for any reason.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...launchEnvironment(), ...env },
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (this.#lines.length < MOST_LINES) this.#lines.push(line);
    });
    this.#child = child;
  }

  async kill(): Promise<void> {
    if (!this.isUp || this.#child === null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  pause(): void {
    if (this.isUp) this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    if (this.isUp) this.#child?.kill('SIGCONT');
  }

  /** The log lines about an address, over all restarts. */
  linesAbout(text: string): string[] {
    return this.#lines.filter((line) => line.includes(`"${text}"`) || line.includes(`${text} `)).slice(-60);
  }

  tail(count: number): string[] {
    return this.#lines.slice(-count);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
