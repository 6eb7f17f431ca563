import { ContainerHolders } from '#agent/host/container-holders.ts';
import { judgeLeftover } from '#agent/host/leftovers.ts';
import { ALL_ARE_OWN } from '#agent/node/is-own.ts';
import { NodeIndex } from '#agent/node/node-index.ts';
import { ALWAYS_FREE } from '#agent/release/release-decision.ts';
import { RELEASES_ALL } from '#agent/release/release-refusal.ts';
import { everyRecord } from '#pkg/ledger/every-record.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type ComposedAgent, composeAgent } from './compose-agent.ts';
import type { AgentPorts } from './compose-ports.ts';

/** The longest rest of an address whose pool is gone or has no cooldown any more. No pool may ask for more. */
const LONGEST_REST_MS = 7 * 24 * 3_600_000;
const EARLIER_BOOT_MS = 5 * 60_000;
const NETNS_GONE_MS = 5_000;
const PLAN_OPTIONS = {
  enableIPv4: true,
  enableIPv6: true,
  enableSubnets: false,
  enableAutoPools: false,
  multusNamespace: '',
};

type Given =
  | 'holders'
  | 'planOptions'
  | 'applications'
  | 'shortages'
  | 'journal'
  | 'answered'
  | 'decideRelease'
  | 'needsLook'
  | 'judgeLeftover'
  | 'isStillAlive'
  | 'isOwn'
  | 'refuseRelease';

export interface StandalonePorts extends Omit<AgentPorts, Given> {
  readonly collectAfterMs: number;
}

/** The agent of a host without Kubernetes: the holder comes from the CNI call, and the agent itself collects leftovers. */
export function composeStandalone(ports: StandalonePorts): ComposedAgent {
  const { catalog, node, sight, collectAfterMs, now = () => new Date() } = ports;
  const { bootID } = sight.host;
  const patience = {
    pathGoneMs: collectAfterMs,
    netnsGoneMs: Math.min(NETNS_GONE_MS, collectAfterMs),
    netnsBareMs: collectAfterMs,
    earlierBootMs: EARLIER_BOOT_MS,
  };
  const longestRestMs = ({ spec }: IpRecord) => {
    const cooldownSeconds = catalog.current().pools.get(spec.pool.name)?.reuseCooldownSeconds ?? 0;
    return cooldownSeconds === 0 ? LONGEST_REST_MS : cooldownSeconds * 1000;
  };
  return composeAgent({
    ...ports,
    holders: new ContainerHolders(node, sight.host),
    planOptions: PLAN_OPTIONS,
    // Containers have no application, so no pools are made for them.
    applications: { whyNot: async () => null },
    shortages: { find: async () => null },
    journal: null,
    answered: null,
    decideRelease: ALWAYS_FREE,
    needsLook: () => true,
    judgeLeftover: (record, seen) =>
      judgeLeftover(record, { ...seen, bootID, longestRestMs: longestRestMs(record) }, patience, now()),
    isStillAlive: null,
    isOwn: ALL_ARE_OWN,
    refuseRelease: RELEASES_ALL,
  });
}

/** All records, under whatever node name they were written: without Kubernetes the ledger belongs to this host alone. */
export async function loadIndex(ledger: Ledger, nowMs: () => number = () => performance.now()): Promise<NodeIndex> {
  const index = new NodeIndex(nowMs);
  for await (const record of everyRecord(ledger)) index.put(record);
  return index;
}
