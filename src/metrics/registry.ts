import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type Metric } from 'prom-client';

/** Makes metrics, each named `sluice_…`, in a registry of its own, so that one process can run several gateways. */
export class MetricsRegistry {
  readonly registry = new Registry();
  readonly #readers = new Map<object, () => void>();
  /** Whether a histogram that may have exemplars has some. */
  protected readonly hasExemplars: boolean;

  constructor(hasExemplars: boolean) {
    this.hasExemplars = hasExemplars;
  }

  /** Adds prom-client's metrics of the process: memory, CPU, event loop delay, garbage collection. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Has a gauge set each time metrics are collected, rather than each time it changes. */
  onCollect(gauge: object, set: () => void): void {
    this.#readers.set(gauge, set);
  }

  /** @param aggregator of several worker processes: how they would be combined; only those of `sum` are */
  protected gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    aggregator: 'sum' | 'min' | 'max' = 'sum',
  ): Gauge<Label> {
    const readers = this.#readers;
    return new Gauge({
      name: `sluice_${name}`,
      help,
      labelNames,
      aggregator,
      registers: [this.registry],
      collect() {
        readers.get(this)?.();
      },
    });
  }

  protected counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
  ): Counter<Label> {
    return new Counter({ name: `sluice_${name}`, help, labelNames, registers: [this.registry] });
  }

  /**
   * @param buckets upper bounds, in seconds
   * @param enableExemplars all observations are then objects
   */
  protected histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
    enableExemplars = false,
  ): Histogram<Label> {
    const options = { name: `sluice_${name}`, help, buckets, labelNames, enableExemplars };
    // Registered apart: prom-client wants a registry that writes exemplars at all times.
    const histogram = new Histogram({ ...options, registers: [] });
    this.registry.registerMetric(histogram as Metric);
    return histogram;
  }
}
