import type { Logger } from 'pino';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { everyRecord } from '#pkg/ledger/every-record.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { Agent } from '../agent.ts';
import type { AgentMetrics } from '../agent-metrics.ts';
import { AddressProbe, type ProbeSettings, type Probing } from '../allocate/address-probe.ts';
import { Allocator } from '../allocate/allocator.ts';
import { FamilyTaker } from '../allocate/family-taker.ts';
import { FreedWaiters } from '../allocate/freed-waiters.ts';
import { PoolViews } from '../allocate/pool-views.ts';
import { Reattachment } from '../allocate/reattachment.ts';
import type { Events } from '../events.ts';
import { Gate } from '../gate.ts';
import { Inspector } from '../inspect/inspector.ts';
import { KeyedQueue } from '../keyed-queue.ts';
import { NodeIndex } from '../node-index.ts';
import type { PoolCatalog } from '../pool-catalog.ts';
import { GiveBack } from '../release/give-back.ts';
import { Releaser } from '../release/releaser.ts';
import type { Spool } from '../release/spool.ts';
import type { ReachStep } from '../steps.ts';
import { Collector } from './collector.ts';
import { ContainerHolders } from './container-holders.ts';

const WORKING = { working: 64, queued: 1_000 };
const MOST_WAITERS = 256;
/** Of a pool that is gone, or has no cooldown any more; no pool may ask for more. */
const LONGEST_REST_MS = 7 * 24 * 3_600_000;
const EARLIER_BOOT_MS = 5 * 60_000;
const PLAN_OPTIONS = { enableIPv4: true, enableIPv6: true, enableSubnets: false, agentNamespace: '' };

export interface AgentPorts {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly catalog: PoolCatalog;
  readonly spool: Spool;
  readonly node: string;
  readonly bootID: string;
  readonly exhaustedWaitMs: number;
  readonly collectAfterMs: number;
  readonly log: Logger;
  readonly reach: ReachStep;
  readonly prober: Probing | null;
  readonly probeSettings: ProbeSettings;
  readonly nowMs?: () => number;
  readonly now?: () => Date;
  readonly metrics?: AgentMetrics;
  readonly events?: Events;
}

/** Wires the agent of a host without Kubernetes, knowing this node's records; it does not serve yet. */
export function composeAgent(ports: AgentPorts): {
  agent: Agent;
  releaser: Releaser;
  collector: Collector;
  waiters: FreedWaiters;
} {
  const { ledger, index, catalog, spool, node, bootID, log, reach } = ports;
  const nowMs = ports.nowMs ?? (() => performance.now());
  const now = ports.now ?? (() => new Date());
  const options = PLAN_OPTIONS;
  const queue = new KeyedQueue();
  const views = new PoolViews(catalog, ledger, index, node);
  const holders = new ContainerHolders(node, bootID);
  const giveBack = new GiveBack({ ledger, index, views, catalog, now, reach });
  const releaser = new Releaser({ index, giveBack, spool, queue, reach });
  const waiters = new FreedWaiters(ledger, catalog, views, MOST_WAITERS);
  const { prober, probeSettings: settings } = ports;
  const probe = new AddressProbe({ prober, settings, ledger, index, giveBack, now, log });
  const taker = new FamilyTaker({ ...ports, views, waiters, giveBack, probe, nowMs });
  const reattachment = new Reattachment({ ledger, index, giveBack });
  const gate = new Gate(WORKING);
  const allocator = new Allocator({
    catalog,
    holders,
    index,
    reattachment,
    taker,
    probe,
    spool,
    gate,
    queue,
    options,
    reach,
    log,
  });
  const patience = { netnsGoneMs: ports.collectAfterMs, earlierBootMs: EARLIER_BOOT_MS };
  const longestRestMs = ({ spec }: IpRecord) => {
    const cooldownSeconds = catalog.current().pools.get(spec.pool.name)?.reuseCooldownSeconds ?? 0;
    return cooldownSeconds === 0 ? LONGEST_REST_MS : cooldownSeconds * 1000;
  };
  const collector = new Collector({ index, releaser, bootID, patience, longestRestMs, nowMs, now, log });
  const inspector = new Inspector({ ledger, catalog, views, holders, spool, index, options });
  const collect = (dryRun: boolean) => collector.collect(dryRun);
  const agent = new Agent({ ...ports, allocator, releaser, inspector, collect });
  return { agent, releaser, collector, waiters };
}

/** All records, whatever the node was called when they were written: without Kubernetes the ledger is this host's alone. */
export async function loadIndex(ledger: Ledger, nowMs: () => number = () => performance.now()): Promise<NodeIndex> {
  const index = new NodeIndex(nowMs);
  for await (const record of everyRecord(ledger)) index.put(record);
  return index;
}
