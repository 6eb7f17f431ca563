import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Durations } from './durations.ts';

type Labels = Readonly<Record<string, string>>;

/** Counts upwards; `labels` as it was registered with. */
export interface Count {
  add(labels?: Labels): void;
}

export interface LabelledValue {
  readonly labels: Labels;
  readonly value: number;
}

/** What one process counts and measures, and how a scrape reads it. */
export class MetricSet {
  readonly contentType: string;
  readonly #registry = new Registry();

  constructor() {
    this.contentType = this.#registry.contentType;
  }

  counter(name: string, help: string, labels: readonly string[] = []): Count {
    const counter = new Counter({ name, help, labelNames: [...labels], registers: [this.#registry] });
    return { add: (given = {}) => counter.inc({ ...given }) };
  }

  /** Asked at every scrape. What it throws costs this one value, not the scrape. */
  gauge(name: string, help: string, read: () => number): void {
    const registers = [this.#registry];
    new Gauge({ name, help, registers, collect: readInto });
    function readInto(this: Gauge): void {
      try {
        this.set(read());
      } catch {
        this.set(Number.NaN);
      }
    }
  }

  /** A family of gauges whose values are all asked for at every scrape: what is not told any more is gone. */
  gauges(name: string, help: string, labels: readonly string[], read: () => Iterable<LabelledValue>): void {
    const registers = [this.#registry];
    new Gauge({ name, help, labelNames: [...labels], registers, collect: readAll });
    function readAll(this: Gauge): void {
      this.reset();
      try {
        for (const { labels: given, value } of read()) this.set({ ...given }, value);
      } catch {
        this.reset();
      }
    }
  }

  durations(names: ConstructorParameters<typeof Durations>[1], help: string): Durations {
    return new Durations(this.#registry, names, help);
  }

  /** Node's own: heap, event loop, garbage collection. They cost something, so they are asked for. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  async text(): Promise<string> {
    return await this.#registry.metrics();
  }
}
