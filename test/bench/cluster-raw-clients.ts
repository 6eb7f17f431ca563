import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import type { ApiAccess } from '#test/support/api-request.ts';
import type { JoinedNode } from '#test/support/joined-nodes.ts';
import type { RawOrder } from './cluster-raw.ts';
import type { ClusterSite } from './cluster-site.ts';

const IN_FLIGHT_PER_CLIENT = 10;
/** 10.200.0.0 is in no pool, so the agents never see these records. */
const FIRST_ADDRESS = 0x0ac80000;

export interface RawCreates {
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

interface RawClient {
  readonly child: ChildProcess;
  readonly model: RecordSpec;
}

/** The baseline: one bare client per node with that node's token, each in its own process. */
export class RawClients implements Disposable {
  readonly #clients: readonly RawClient[];
  #next: number;

  private constructor(clients: readonly RawClient[], firstAddress: number) {
    this.#clients = clients;
    this.#next = firstAddress;
  }

  /** `models` are records as the agents of the nodes write them. */
  static start(
    { url, caFile }: ApiAccess,
    nodes: readonly Pick<JoinedNode, 'name' | 'token'>[],
    models: readonly RecordSpec[],
    firstAddress = FIRST_ADDRESS,
  ): RawClients {
    const program = join(import.meta.dirname, 'cluster-raw.ts');
    const clients = nodes.map(({ name, token }) => {
      const model = models.find(({ holder }) => holder.node === name);
      if (model === undefined) throw new Error(`there is no record of ${name} to copy`);
      return { child: fork(program, [url, caFile, token, `ipledger-agent/${name}`]), model };
    });
    return new RawClients(clients, firstAddress);
  }

  async create(perClient: number): Promise<RawCreates> {
    const prepared = this.#clients.map(async ({ child, model }) => {
      const order: RawOrder = { first: this.#next, count: perClient, inFlight: IN_FLIGHT_PER_CLIENT, model };
      this.#next += perClient;
      await ask(child, order);
    });
    await Promise.all(prepared);
    const startedMs = performance.now();
    const latencies = await Promise.all(this.#clients.map(({ child }) => ask<number[]>(child, 'go')));
    return { seconds: (performance.now() - startedMs) / 1_000, latenciesMs: latencies.flat() };
  }

  [Symbol.dispose](): void {
    for (const { child } of this.#clients) child.disconnect();
  }
}

async function ask<T>(child: ChildProcess, message: RawOrder | 'go'): Promise<T> {
  const gone = new AbortController();
  const onExit = () => gone.abort(new Error('a bare client ended'));
  child.once('exit', onExit);
  child.send(message);
  const [answer] = await once(child, 'message', { signal: gone.signal });
  child.off('exit', onExit);
  return answer;
}

/** The records that the agents have written so far. */
export async function readSpecs(site: ClusterSite): Promise<RecordSpec[]> {
  const { items } = await site.read<{ items: IpRecord[] }>('/apis/ipledger.io/v1alpha1/iprecords');
  return items.map(({ spec }) => spec);
}
