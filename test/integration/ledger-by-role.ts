import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';

export interface Roles {
  /** The ledger of each node's agent. */
  readonly agents: ReadonlyMap<string, Ledger>;
  readonly controller: Ledger;
  readonly onWrite: (by: 'agent' | 'controller') => void;
}

/** What deploy/admission-policy.yaml lets an agent make of a record of its own node. */
const OWN_MOVES = [
  'Allocated to Allocated',
  'Allocated to Retained',
  'Allocated to Cooling',
  'Allocated to Quarantined',
  'Retained to Retained',
  'Suspect to Allocated',
  'Suspect to Suspect',
];

/**
 * A ledger in which every write is made by whom it belongs to in a cluster: by the agent of the node wherever the policy
 * lets it, by the controller where it is the controller's to make (Suspect, from node to node, from pool to pool or pod to
 * pod, foreign hosts, the end of Retained, Cooling and Quarantined). All reads and the watch are an agent's.
 */
export function ledgerByRole({ agents, controller, onWrite }: Roles): Ledger {
  const writer = (node: string | null): Ledger => {
    const agent = node === null ? undefined : agents.get(node);
    onWrite(agent === undefined ? 'controller' : 'agent');
    return agent ?? controller;
  };
  const reader = agents.get('worker-1') ?? controller;
  return {
    create: (spec) => writer(creatorOf(spec)).create(spec),
    takeOver: (seen, next) => writer(takerOf(seen, next)).takeOver(seen, next),
    amend: (seen, next) => writer(amenderOf(seen, next)).amend(seen, next),
    release: (seen) => writer(releaserOf(seen)).release(seen),
    get: (name) => reader.get(name),
    byHolder: (key) => reader.byHolder(key),
    byNode: (node) => reader.byNode(node),
    list: (query) => reader.list(query),
    takenOf: (pool) => reader.takenOf(pool),
    watchPool: (pool, tell) => reader.watchPool(pool, tell),
    close: async () => {
      await Promise.all([...agents.values(), controller].map((ledger) => ledger.close()));
    },
  };
}

function creatorOf({ state, holder }: RecordSpec): string | null {
  return state === 'Allocated' ? holder.node : null;
}

function takerOf({ spec }: IpRecord, next: RecordSpec): string | null {
  if (spec.state === 'Suspect') return next.holder.node;
  const isSame = spec.pool.name === next.pool.name && spec.holder.interface === next.holder.interface;
  return isSame ? next.holder.node : null;
}

function amenderOf({ spec }: IpRecord, next: RecordSpec): string | null {
  const isOwn = spec.holder.node === next.holder.node;
  const isAllowed = isOwn && OWN_MOVES.includes(`${spec.state} to ${next.state}`) && keepsPoolAndPod(spec, next);
  return isAllowed ? next.holder.node : null;
}

function keepsPoolAndPod({ state, pool, holder }: RecordSpec, next: RecordSpec): boolean {
  if (state === 'Suspect') return true;
  if (state === 'Retained') return pool.name === next.pool.name;
  const isSamePool = pool.name === next.pool.name && pool.uid === next.pool.uid;
  return isSamePool && (next.state !== 'Allocated' || holder.uid === next.holder.uid);
}

function releaserOf({ spec }: IpRecord): string | null {
  return spec.state === 'Allocated' || spec.state === 'Suspect' ? spec.holder.node : null;
}
