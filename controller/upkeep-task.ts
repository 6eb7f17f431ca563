import type { Logger } from 'pino';
import type { ClaimScope } from '#controller/claims/claim-scope.ts';
import { podsOf } from '#controller/project/pods-view.ts';
import type { Sample } from '#controller/project/pool-gauges.ts';
import { recordsOf } from '#controller/project/records-view.ts';
import type { LeaderTask, Term } from '#controller/reconcile/leader-task.ts';
import { workloadPodsOf } from '#controller/subnets/workload-pods.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';

import type { AdoptionGate } from './adoption.ts';
import { type NetworkReconcilersOptions, startNetworkReconcilers } from './network-reconcilers.ts';

export interface UpkeepDeps {
  readonly client: KubeClient;
  readonly ledger: NetworkReconcilersOptions['ledger'];
  readonly config: ClusterConfig;
  readonly events: Events;
  readonly log: Logger;
  readonly now: () => Date;
  readonly nowMs: () => number;
  readonly vitistack: Pick<NetworkReconcilersOptions['vitistack'], 'rangeRules' | 'providerSettings'> & {
    readonly gate: AdoptionGate;
  };
  /** How long agents are given to write records back after a break. */
  readonly settleMs: number;
  readonly claimScope: ClaimScope;
  /** Called with the source of the gauges when the task starts, with null when it ends. */
  readonly onGauges: (sample: (() => Promise<readonly Sample[]>) | null) => void;
}

/** Applications of other kinds are not watched. */
const READ_AGAIN_MS = 30_000;

/** Runs the reconcilers of pools, subnets, endpoints and claims for one term. */
export function upkeepTask(deps: UpkeepDeps): LeaderTask {
  return { name: 'upkeep', run: (term) => keepUp(term, deps) };
}

async function keepUp(
  term: Term,
  { config, onGauges, nowMs, settleMs, vitistack, ...deps }: UpkeepDeps,
): Promise<void> {
  const { view, signal } = term;
  await using reconcilers = startNetworkReconcilers({
    ...deps,
    isLeader: () => term.mayWrite(),
    records: recordsOf(view),
    pools: view.pools,
    pods: podsOf(view),
    nodeCount: () => view.nodes.size,
    rules: config,
    recordsMissingForMs: () => Math.max(0, view.steadySinceMs + settleMs - nowMs()),
    vitistack: { ...vitistack, isAdopted: () => vitistack.gate.isOpen(term) },
    adoptPools: config.enableSpiderSubnet,
    autoPools:
      config.enableSpiderSubnet && config.enableAutoPoolForApplication
        ? { workloads: workloadPodsOf(view), wishRules: config, readAgainMs: READ_AGAIN_MS }
        : null,
  });
  onGauges(() => reconcilers.gauges());
  await ended(signal);
  onGauges(null);
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
