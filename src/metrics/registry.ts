import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type Metric } from 'prom-client';

/** Makes metrics, each named `sluice_…`, in a registry of its own, so that one process can run several gateways. */
export class MetricsRegistry {
  readonly registry = new Registry();
  readonly #readers = new Map<object, () => void>();
  /** Whether the histograms that may have exemplars have them. */
  protected readonly hasExemplars: boolean;

  constructor(hasExemplars: boolean) {
    this.hasExemplars = hasExemplars;
  }

  /** Adds prom-client's metrics of the process: memory, CPU, event loop delay, garbage collection. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Sets a gauge each time metrics are collected, rather than each time its value changes. */
  onCollect(gauge: object, set: () => void): void {
    this.#readers.set(gauge, set);
  }

  /** @param aggregator only `sum` combines the values of worker processes; other gauges get a label `worker` */
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
   * @param enableExemplars whether all observations are objects, which may have exemplars
   */
  protected histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
    enableExemplars = false,
  ): Histogram<Label> {
    const options = { name: `sluice_${name}`, help, buckets, labelNames, enableExemplars };
    // Registered separately, as prom-client otherwise wants a registry that always writes exemplars.
    const histogram = new Histogram({ ...options, registers: [] });
    this.registry.registerMetric(histogram as Metric);
    return histogram;
  }
}
