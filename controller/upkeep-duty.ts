import type { Logger } from 'pino';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import type { KubeClient } from '#pkg/kube/client.ts';
import type { Events } from '#pkg/kube/events.ts';
import type { Trouble } from '#pkg/kube/reflector.ts';
import type { Resource } from '#pkg/kube/resource.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Duty, Term } from './duty.ts';
import { keepPools } from './lifecycle/keep-pools.ts';
import { keepSubnets } from './lifecycle/keep-subnets.ts';
import { watchObjects } from './project/object-view.ts';
import { podsOf } from './project/pods-view.ts';
import { PoolCatalog } from './project/pool-catalog.ts';
import type { Sample } from './project/pool-gauges.ts';
import { projectEndpoints } from './project/project-endpoints.ts';
import { projectPools } from './project/project-pools.ts';
import { recordsOf } from './project/records-view.ts';
import { sampleGauges } from './project/sample-gauges.ts';
import { ENDPOINTS, POOLS, RESERVED_IPS, SUBNETS } from './project/spider-resources.ts';

export interface UpkeepDeps {
  readonly client: KubeClient;
  readonly ledger: Pick<Ledger, 'takenOf'>;
  readonly config: ClusterConfig;
  readonly events: Events;
  readonly log: Logger;
  readonly now: () => Date;
  /** Who asks for the gauges while this duty runs; null when it ends. */
  readonly onGauges: (sample: (() => readonly Sample[]) | null) => void;
}

/** Keeps what is shown equal to the records: status of pools, endpoints, and the life of pools and subnets. */
export function upkeepDuty(deps: UpkeepDeps): Duty {
  return { name: 'upkeep', run: (term) => keepUp(term, deps) };
}

async function keepUp(term: Term, { client, ledger, config, events, log, now, onGauges }: UpkeepDeps): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const watch = (resource: Resource) => {
    const onTrouble = (trouble: Trouble) =>
      log.warn({ kind: resource.plural, during: trouble.during }, 'view is not current');
    return stack.use(watchObjects(client, { resource, onTrouble }));
  };
  const pools = watch(POOLS);
  const reserved = watch(RESERVED_IPS);
  const subnets = watch(SUBNETS);
  const endpoints = watch(ENDPOINTS);
  const catalog = new PoolCatalog(pools, reserved);
  const records = recordsOf(term.view);
  const context = { client, log, now, isLeader: () => term.mayWrite() };
  const nodeCount = () => term.view.nodes.size;
  stack.use(projectPools({ ...context, records, pools, reserved, catalog, nodeCount }));
  stack.use(projectEndpoints({ ...context, records, endpoints, pods: podsOf(term.view), rules: config }));
  stack.use(keepPools({ ...context, pools, catalog, records, ledger, events }));
  stack.use(keepSubnets({ ...context, subnets, pools }));
  onGauges(() => sampleGauges({ catalog, records, subnets }));
  stack.defer(() => onGauges(null));
  await ended(term.signal);
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
