import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.1, 0.3, 0.5, 1, 3, 5, 7, 10, 15];

type Labels = Readonly<Record<string, string>>;

/** Counts upwards; `labels` as it was registered with. */
export interface Count {
  add(): void;
  add(labels: Labels): void;
}

export interface Observed {
  observe(seconds: number): void;
}

export interface Level {
  set(value: number): void;
}

interface NamedValue {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

type ReadValues = () => Promise<readonly NamedValue[]>;
type ByName = ReadonlyMap<string, readonly NamedValue[]>;

/** What one process counts and measures, and how a scrape reads it. */
export class MetricSet {
  readonly contentType: string;
  readonly #registry = new Registry();
  /** What was read for the scrape under way: several families may come from one reading. */
  readonly #readings = new Map<ReadValues, Promise<ByName>>();

  constructor() {
    this.contentType = this.#registry.contentType;
  }

  counter(name: string, help: string, labels: readonly string[] = []): Count {
    const counter = new Counter({ name, help, labelNames: [...labels], registers: [this.#registry] });
    return { add: counter.inc.bind(counter) };
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

  /** A family of gauges whose values are read once per scrape, together with all families of the same `read`: what is no longer read is gone. */
  gauges(name: string, help: string, labels: readonly string[], read: ReadValues): void {
    const registers = [this.#registry];
    const values = async () => (await this.#readOnce(read)).get(name) ?? [];
    new Gauge({ name, help, labelNames: [...labels], registers, collect: readAll });
    async function readAll(this: Gauge): Promise<void> {
      const read = await values();
      this.reset();
      for (const { labels: given, value } of read) this.set({ ...given }, value);
    }
  }

  /** How long something takes, in seconds. */
  histogram(name: string, help: string): Observed {
    return new Histogram({ name, help, buckets: BUCKETS_SECONDS, registers: [this.#registry] });
  }

  /** A gauge that keeps the value which was set last. */
  level(name: string, help: string): Level {
    return new Gauge({ name, help, registers: [this.#registry] });
  }

  /** Node's own: heap, event loop, garbage collection. They cost something, so they are asked for. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  async text(): Promise<string> {
    this.#readings.clear();
    try {
      return await this.#registry.metrics();
    } finally {
      this.#readings.clear();
    }
  }

  #readOnce(read: ReadValues): Promise<ByName> {
    const known = this.#readings.get(read);
    if (known !== undefined) return known;
    const byName = tryRead(read).then((values) => Map.groupBy(values, ({ name }) => name));
    this.#readings.set(read, byName);
    return byName;
  }
}

/** What cannot be read costs its own families, not the scrape. */
async function tryRead(read: ReadValues): Promise<readonly NamedValue[]> {
  try {
    return await read();
  } catch {
    return [];
  }
}
