import { setImmediate as turn } from 'node:timers/promises';
import type { Call } from '#agent/calls/call.ts';
import type { AgentPorts } from '#agent/compose/compose-ports.ts';
import type { CreateOutcome, Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { OnPoolChange, PoolChange } from '#pkg/ledger/pool-change.ts';
import type { IpRecord, RecordState } from '#pkg/record/ip-record.ts';
import { buildPool } from './build-pool.ts';
import { buildRecord } from './build-record.ts';
import { addArgs, newCall } from './memory-agent.ts';
import { startMemoryClusterAgent } from './memory-cluster-agent.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { turnedTiming } from './turned-timing.ts';

/** More than the longest pause of a pool that two nodes use. */
export const PAUSE_MS = 50;

/** The watch of one pool as the API server serves it: it starts where the pool was last read, and tells late. */
class LateWatch {
  readonly #changes: PoolChange[] = [];
  #tell: OnPoolChange | null = null;
  #at = 0;

  push(change: PoolChange): void {
    this.#changes.push(change);
  }

  noteRead(): void {
    if (this.#tell === null) this.#at = this.#changes.length;
  }

  watch(tell: OnPoolChange): Disposable {
    this.#tell = tell;
    return { [Symbol.dispose]: () => (this.#tell = null) };
  }

  /** False where nobody watches, or everything is told. */
  tellNext(): boolean {
    const change = this.#changes[this.#at];
    if (this.#tell === null || change === undefined) return false;
    this.#at += 1;
    this.#tell(change);
    return true;
  }

  break(): void {
    this.#at = this.#changes.length;
    this.#tell?.({ kind: 'unknown' });
  }
}

/** Requests that are sent and answered when the test says so. */
class HeldRequests {
  readonly #waiting: (() => void)[] = [];
  isHolding = false;

  async pass(): Promise<void> {
    if (this.isHolding) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  get count(): number {
    return this.#waiting.length;
  }

  /** Lets one of them reach the ledger. */
  release(at = 0): void {
    this.#waiting.splice(at, 1)[0]?.();
  }
}

/** An agent, and a pool of which another node has every address; the test says when the agent is told of changes. */
export async function startContendedPool(size: number, more: Partial<AgentPorts> = {}) {
  const addresses = Array.from({ length: size }, (_, at) => `10.0.0.${10 + at}`);
  const below = createMemoryLedger();
  const watch = new LateWatch();
  const creates = new HeldRequests();
  const reads = new HeldRequests();
  const count = { creates: 0, reads: 0 };
  const note = (outcome: CreateOutcome) => {
    if (outcome.taken) watch.push({ kind: 'taken', name: outcome.record.name, state: 'Allocated' });
    return outcome;
  };
  const release: Ledger['release'] = async (seen) => {
    const outcome = await below.release(seen);
    if (outcome.done) watch.push({ kind: 'freed', name: seen.name, uid: seen.uid });
    return outcome;
  };
  const ledger = ledgerWith(below, {
    create: async (spec) => {
      count.creates += 1;
      await creates.pass();
      return note(await below.create(spec));
    },
    release,
    takenOf: async (pool) => {
      count.reads += 1;
      await reads.pass();
      const taken = await below.takenOf(pool);
      watch.noteRead();
      return taken;
    },
    watchPool: (_, tell) => watch.watch(tell),
  });
  const others = {
    take: async (address: string) => {
      const holder = { kind: 'Pod', name: address, uid: address, node: 'worker-2' } as const;
      note(await below.create(buildRecord({ address, holder }).spec));
    },
    release: async (address: string) => {
      const record = await below.get(address);
      if (record?.spec.holder.node === 'worker-2') await release(record);
    },
    /** The next pod of its holder gets it. */
    keep: async (address: string) => {
      const record = await below.get(address);
      if (record === null) return;
      await below.amend(record, { ...record.spec, state: 'Retained' });
      watch.push({ kind: 'taken', name: address, state: 'Retained' });
    },
    makeSuspect: async (address: string) => {
      const record = await below.get(address);
      if (record === null) return;
      await below.amend(record, { ...record.spec, state: 'Suspect' satisfies RecordState });
      watch.push({ kind: 'suspect', name: address });
    },
  };
  for (const address of addresses) await others.take(address);
  const timing = turnedTiming();
  const pool = buildPool({ name: 'v4', ips: addresses, isDefault: true });
  const made = await startMemoryClusterAgent([pool], { ledger, timing, exhaustedWaitMs: 20_000, ...more });
  const holderOf = async (address: string) => (await below.get(address))?.spec.holder.name ?? null;
  return {
    made,
    addresses,
    below,
    count,
    creates,
    reads,
    others,
    timing,
    watch,
    holderOf,
    /** Starts an ADD; what becomes of it is seen in the records, or by waiting for it. */
    add: async (name: string, call: Call = newCall()): Promise<string[]> => {
      const pod = made.pods.put(name);
      const args = { podNamespace: pod.namespace, podName: name, podUID: pod.uid };
      const { ips } = await made.agent.add(addArgs(name, args), call);
      return ips.map(({ address }) => address.replace(/\/.*/, ''));
    },
    /** Until nothing happens any more without the test. */
    settled: async () => {
      for (let at = 0; at < 30; at += 1) await turn();
    },
    tellAll: () => {
      while (watch.tellNext());
    },
    records: (): Promise<IpRecord[]> => below.list({ limit: 1_000 }),
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}
