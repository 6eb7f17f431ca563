import type { CollectMetrics } from '#controller/collect/collect-metrics.ts';
import { CONTROLLER_METRICS } from '#controller/project/metric-names.ts';
import type { Sample } from '#controller/project/pool-gauges.ts';
import type { MetricSet } from '#pkg/metrics/metric-set.ts';

type SampleNow = () => Promise<readonly Sample[]>;

/** The metrics of the controller. Only the leader exports gauges. */
export class ControllerMetrics implements CollectMetrics {
  readonly collected: CollectMetrics['collected'];
  readonly doubted: CollectMetrics['doubted'];
  readonly failed: CollectMetrics['failed'];
  #sample: SampleNow | null = null;
  /** One function for all gauges: a scrape computes them together. */
  readonly #sampleNow: SampleNow = async () => (await this.#sample?.()) ?? [];

  constructor(set: MetricSet) {
    for (const [name, { type, help, labels }] of Object.entries(CONTROLLER_METRICS)) {
      if (type === 'gauge') set.gauges(name, help, labels, this.#sampleNow);
    }
    const { spiderpool_ip_gc_counts_total: gc, spiderpool_ip_gc_failure_counts_total: failure } = CONTROLLER_METRICS;
    const all = set.counter('spiderpool_ip_gc_counts_total', gc.help);
    const failures = set.counter('spiderpool_ip_gc_failure_counts_total', failure.help);
    const { ipledger_collected_total: byCause } = CONTROLLER_METRICS;
    const causes = set.counter('ipledger_collected_total', byCause.help, byCause.labels);
    this.collected = (cause) => {
      all.add();
      causes.add({ cause });
    };
    const { ipledger_in_doubt_total: inDoubt } = CONTROLLER_METRICS;
    const doubts = set.counter('ipledger_in_doubt_total', inDoubt.help, inDoubt.labels);
    this.doubted = (cause) => doubts.add({ cause });
    this.failed = () => failures.add();
  }

  /** Null: this process is not the leader and has no gauges. */
  sampleFrom(sample: SampleNow | null): void {
    this.#sample = sample;
  }
}
