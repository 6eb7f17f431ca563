import type { Reason } from '#pkg/errors/reasons.ts';
import type { Count, Level, MetricSet, Observed } from '#pkg/metrics/metric-set.ts';
import type { AgentMetrics, WatchedGauge } from './agent-metrics.ts';

type Cause = 'internal' | 'no_available_pool' | 'retries_exhausted' | 'ip_used_out';

/** Spiderpool's four causes. Null: an error of the requester, which counts as a failure only. */
const CAUSES: Readonly<Record<Reason, Cause | null>> = {
  internal: 'internal',
  'io-failure': 'internal',
  'bad-environment': 'internal',
  'no-eligible-pool': 'no_available_pool',
  'unknown-pool': 'no_available_pool',
  'auto-pool-missing': 'no_available_pool',
  'pools-exhausted': 'ip_used_out',
  'agent-busy': 'retries_exhausted',
  'agent-unavailable': 'retries_exhausted',
  'api-server-unavailable': 'retries_exhausted',
  'outcome-unknown': 'retries_exhausted',
  'out-of-time': 'retries_exhausted',
  'caller-gone': 'retries_exhausted',
  'not-ready': 'retries_exhausted',
  'ledger-restored': 'retries_exhausted',
  'incompatible-version': null,
  'bad-input': null,
  'bad-annotation': null,
  'bad-config': null,
  'address-held': null,
  'sticky-address-conflict': null,
  'gateway-unreachable': null,
  'address-refused': null,
  'check-failed': null,
  'address-conflict': null,
  'unknown-pod': null,
};
const ALLOCATION_CAUSES: readonly Cause[] = ['internal', 'no_available_pool', 'retries_exhausted', 'ip_used_out'];
const RELEASE_CAUSES: readonly Cause[] = ['internal', 'retries_exhausted'];

export const AGENT_GAUGES: Readonly<Record<WatchedGauge, { readonly name: string; readonly help: string }>> = {
  ready: { name: 'ipledger_agent_ready', help: '1 once the agent can answer ADDs, 0 before' },
  'journal-entries': { name: 'ipledger_journal_entries', help: 'Releases that wait for the API server' },
  'spool-entries': { name: 'ipledger_spool_entries', help: 'DELs that the plugin left for the agent' },
  'index-records': { name: 'ipledger_index_records', help: 'Records of this node that the agent knows of' },
  'lost-addresses': {
    name: 'ipledger_lost_addresses',
    help: 'Addresses that a live sandbox of this node uses while another holder has the record',
  },
  'lost-events': { name: 'ipledger_lost_events', help: 'Events that could not be written, since the start' },
  'outliving-sandboxes': {
    name: 'ipledger_outliving_sandboxes',
    help: 'Records whose pod is gone and whose network namespace still has a link',
  },
  'waiting-adds': {
    name: 'ipledger_waiting_adds',
    help: 'ADDs that wait for an address of a full pool, or for the pool of their application',
  },
};

/** Spiderpool's documented names, and ours beside them with the prefix `ipledger_`. */
export function exportAgentMetrics(set: MetricSet): AgentMetrics {
  const allocation = new VerbMetrics(set, 'allocation', ALLOCATION_CAUSES);
  const release = new VerbMetrics(set, 'release', RELEASE_CAUSES);
  const probes = set.counter('ipledger_probes_total', 'Addresses probed, by verdict', ['verdict']);
  const restored = set.counter(
    'ipledger_restored_records_total',
    'Lost records of live sandboxes that were created again',
  );
  const freedSuspects = set.counter(
    'ipledger_freed_suspects_total',
    'Suspect addresses that this agent freed because no host answered on them',
  );
  const conflicts = set.counter('ipledger_create_conflicts_total', 'Records that another writer had created first');
  return {
    allocation: (ms, failed) => allocation.ended(ms, failed),
    release: (ms, failed) => release.ended(ms, failed),
    queueWait: (ms, of = 'allocation') => (of === 'allocation' ? allocation : release).waited(ms),
    probe: (verdict) => probes.add({ verdict }),
    createConflict: () => {
      conflicts.add();
      allocation.conflict();
    },
    releaseConflict: () => release.conflict(),
    recordRestored: () => restored.add(),
    suspectFreed: () => freedSuspects.add(),
    watch: (gauge, read) => set.gauge(AGENT_GAUGES[gauge].name, AGENT_GAUGES[gauge].help, read),
  };
}

class VerbMetrics {
  readonly #all: Count;
  readonly #failures: Count;
  readonly #conflicts: Count;
  readonly #byCause: ReadonlyMap<Cause, Count>;
  readonly #byReason: Count;
  readonly #took: Durations;
  readonly #waited: Durations;

  constructor(set: MetricSet, verb: 'allocation' | 'release', causes: readonly Cause[]) {
    const prefix = `spiderpool_ipam_${verb}`;
    const counter = (name: string, help: string) => set.counter(`${prefix}_${name}counts_total`, help);
    this.#all = counter('', `Calls for ${verb}`);
    this.#failures = counter('failure_', `Calls for ${verb} that failed`);
    this.#conflicts = counter('update_ippool_conflict_', 'Writes that another writer had made first');
    const ofCause = (cause: Cause) => counter(`err_${cause}_`, `Calls for ${verb} that failed: ${cause}`);
    this.#byCause = new Map(causes.map((cause) => [cause, ofCause(cause)]));
    const help = `Calls for ${verb} that failed, by reason`;
    this.#byReason = set.counter(`ipledger_${verb}_failures_total`, help, ['reason']);
    const durations = (kind: string, what: string) => {
      const level = (statistic: Statistic) =>
        set.level(
          `${prefix}_${statistic}_${kind}seconds`,
          `${what} for ${verb}, ${statistic} since the start, seconds`,
        );
      return new Durations(set.histogram(`${prefix}_${kind}seconds`, `${what} for ${verb}, seconds`), level);
    };
    this.#took = durations('duration_', 'Calls');
    this.#waited = durations('limit_duration_', 'Waiting for the turn of calls');
  }

  ended(ms: number, failed: Reason | null): void {
    this.#all.add();
    this.#took.observe(ms);
    if (failed === null) return;
    this.#failures.add();
    this.#byReason.add({ reason: failed });
    const cause = CAUSES[failed];
    if (cause !== null) this.#byCause.get(cause)?.add();
  }

  waited(ms: number): void {
    this.#waited.observe(ms);
  }

  conflict(): void {
    this.#conflicts.add();
  }
}

type Statistic = 'average' | 'max' | 'min' | 'latest';

/** A histogram, and the four gauges that Spiderpool's dashboards show, since the start of the process. */
class Durations {
  readonly #histogram: Observed;
  readonly #levels: Readonly<Record<Statistic, Level>>;
  #count = 0;
  #sumSeconds = 0;
  #max = 0;
  #min = Number.POSITIVE_INFINITY;

  constructor(histogram: Observed, level: (statistic: Statistic) => Level) {
    this.#histogram = histogram;
    this.#levels = { average: level('average'), max: level('max'), min: level('min'), latest: level('latest') };
  }

  observe(ms: number): void {
    const seconds = ms / 1000;
    this.#count += 1;
    this.#sumSeconds += seconds;
    this.#max = Math.max(this.#max, seconds);
    this.#min = Math.min(this.#min, seconds);
    this.#histogram.observe(seconds);
    this.#levels.average.set(this.#sumSeconds / this.#count);
    this.#levels.max.set(this.#max);
    this.#levels.min.set(this.#min);
    this.#levels.latest.set(seconds);
  }
}
