import { Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.1, 0.3, 0.5, 1, 3, 5, 7, 10, 15];
const STATISTICS = ['average', 'max', 'min', 'latest'] as const;

export interface DurationNames {
  /** Of the histogram. */
  readonly histogram: string;
  gauge(statistic: (typeof STATISTICS)[number]): string;
}

/** How long something takes: a histogram, and the four gauges that Spiderpool's dashboards show, since the start of the process. */
export class Durations {
  readonly #histogram: Histogram;
  readonly #gauges: Readonly<Record<(typeof STATISTICS)[number], Gauge>>;
  #count = 0;
  #sumMs = 0;
  #max = 0;
  #min = Number.POSITIVE_INFINITY;

  constructor(registry: Registry, names: DurationNames, help: string) {
    const registers = [registry];
    this.#histogram = new Histogram({
      name: names.histogram,
      help: `${help}, seconds`,
      buckets: BUCKETS_SECONDS,
      registers,
    });
    const gauge = (statistic: (typeof STATISTICS)[number]) =>
      new Gauge({ name: names.gauge(statistic), help: `${help}, ${statistic} since the start, seconds`, registers });
    this.#gauges = { average: gauge('average'), max: gauge('max'), min: gauge('min'), latest: gauge('latest') };
  }

  observe(ms: number): void {
    const seconds = ms / 1000;
    this.#count += 1;
    this.#sumMs += ms;
    this.#max = Math.max(this.#max, seconds);
    this.#min = Math.min(this.#min, seconds);
    this.#histogram.observe(seconds);
    this.#gauges.average.set(this.#sumMs / this.#count / 1000);
    this.#gauges.max.set(this.#max);
    this.#gauges.min.set(this.#min);
    this.#gauges.latest.set(seconds);
  }
}
