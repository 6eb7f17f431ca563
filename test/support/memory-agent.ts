import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ProbeSettings } from '#agent/allocate/address-probe.ts';
import type { Call } from '#agent/calls/call.ts';
import { composeStandalone, loadIndex, type StandalonePorts } from '#agent/compose/compose-standalone.ts';
import { Spool } from '#agent/debts/spool.ts';
import { assembleCatalog } from '#agent/host/assemble-catalog.ts';
import { hostSight } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { Collector } from '#agent/release/collector.ts';
import type { Releaser } from '#agent/release/releaser.ts';
import type { Agent } from '#agent/serve/agent.ts';
import type { CatalogSnapshot, PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { AddArgs, DelArgs } from '#pkg/agentapi/wire.ts';
import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { createMemoryLedger } from './memory-ledger.ts';

/** A catalog that a test can change. */
export class FixedCatalog implements PoolCatalog {
  readonly #listeners = new Set<() => void>();
  #snapshot: CatalogSnapshot;

  constructor(pools: readonly Pool[], reservedIps: readonly ReservedIp[] = []) {
    this.#snapshot = toSnapshot(pools, reservedIps, null);
  }

  current(): CatalogSnapshot {
    return this.#snapshot;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  change(pools: readonly Pool[], reservedIps: readonly ReservedIp[] = []): void {
    this.#snapshot = toSnapshot(pools, reservedIps, this.#snapshot);
    for (const listener of this.#listeners) listener();
  }
}

export const NO_PROBING: ProbeSettings = {
  detectConflict: false,
  detectGateway: false,
  windowMs: 100,
  count: 3,
  quarantineMs: 900_000,
  onConflict: 'next',
};

export interface MemoryAgent extends AsyncDisposable {
  readonly agent: Agent;
  readonly releaser: Releaser;
  readonly collector: Collector;
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly catalog: FixedCatalog;
  readonly spool: Spool;
  readonly spoolDirectory: string;
}

/** The real standalone agent on a memory ledger, without a socket. */
export async function startMemoryAgent(
  pools: readonly Pool[],
  options: Partial<StandalonePorts> & {
    readonly reservedIps?: readonly ReservedIp[];
    readonly isReady?: boolean;
  } = {},
): Promise<MemoryAgent> {
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'ipledger-spool-'));
  const spool = options.spool ?? new Spool(spoolDirectory);
  const catalog = new FixedCatalog(pools, options.reservedIps);
  const ledger = options.ledger ?? createMemoryLedger();
  const index = await loadIndex(ledger, options.nowMs);
  const parts = composeStandalone({
    node: 'worker-1',
    sight: hostSight({ bootID: 'boot-1' }),
    exhaustedWaitMs: 0,
    collectAfterMs: 60_000,
    log: pino({ level: 'silent' }),
    failpoint: () => {},
    prober: null,
    probeSettings: NO_PROBING,
    pause: async () => {},
    ...options,
    ledger,
    index,
    catalog,
    spool,
  });
  if (options.isReady ?? true) parts.agent.readiness.become();
  return {
    ...parts,
    ledger,
    index,
    catalog,
    spool,
    spoolDirectory,
    [Symbol.asyncDispose]: () => rm(spoolDirectory, { recursive: true, force: true }),
  };
}

export function addArgs(containerID: string, more: Partial<AddArgs> = {}): AddArgs {
  return {
    containerID,
    ifName: 'eth0',
    netNamespace: '/proc/self/ns/net',
    podNamespace: '',
    podName: '',
    podUID: '',
    network: 'lab',
    ...more,
  };
}

export function delArgs(containerID: string, more: Partial<DelArgs> = {}): DelArgs {
  return { containerID, ifName: 'eth0', podNamespace: '', podName: '', podUID: '', network: 'lab', ...more };
}

export function newCall(timeoutMs = 30_000, signal = new AbortController().signal): Call {
  const arrivedAtMs = performance.now();
  return { begunAtMs: arrivedAtMs, arrivedAtMs, deadlineMs: arrivedAtMs + timeoutMs, signal };
}

function toSnapshot(
  pools: readonly Pool[],
  reservedIps: readonly ReservedIp[],
  before: CatalogSnapshot | null,
): CatalogSnapshot {
  return assembleCatalog([{ pools: pools.map((pool) => ({ pool, where: pool.name })), reservedIps }], [], before);
}
