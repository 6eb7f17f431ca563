import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterSite, inFlight } from './cluster-site.ts';

const PER_PROCESS = 500;
const CREATES_IN_FLIGHT = 16;
/** Waits for the garbage collection of the server after many connections. */
const SETTLE_MS = 10_000;

/** Agents that only watch, 500 in a process, each on its own node. */
export class IdleCrowd implements Disposable {
  readonly #site: ClusterSite;
  readonly #processes: ChildProcess[] = [];

  constructor(site: ClusterSite) {
    this.#site = site;
  }

  async growTo(size: number): Promise<void> {
    for (let from = this.#processes.length * PER_PROCESS; from < size; from += PER_PROCESS) await this.#add(from);
    await sleep(SETTLE_MS);
  }

  async #add(from: number): Promise<void> {
    const names = Array.from({ length: PER_PROCESS }, (_, at) => `idle-${from + at}`);
    await inFlight(names, CREATES_IN_FLIGHT, (name) => this.#site.create('/api/v1/nodes', { metadata: { name } }));
    // For reads any token will do.
    const [{ kubeconfigFile = '' } = {}] = this.#site.nodes;
    const program = join(import.meta.dirname, 'cluster-idle-agents.ts');
    const child = fork(program, [kubeconfigFile, `${from}`, `${PER_PROCESS}`]);
    this.#processes.push(child);
    const gone = new AbortController();
    child.once('exit', () => gone.abort(new Error('the idle agents ended')));
    await once(child, 'message', { signal: gone.signal });
  }

  [Symbol.dispose](): void {
    for (const child of this.#processes) if (child.connected) child.disconnect();
  }
}
