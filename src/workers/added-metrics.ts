import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricSnapshot } from './messages.ts';

/**
 * Parts of a second, a power of two: sums of such fractions are exact, up to 17 years. Otherwise they would depend on the
 * order of the processes, and a counter go back by its last digit, which Prometheus takes for a new start.
 */
const PARTS = 2 ** 24;

interface Process {
  /** The same for a process and for the one that takes its place. */
  readonly worker: string;
  metrics: readonly MetricSnapshot[];
}

/**
 * The metrics of several processes as those of one pod. What counts is added up, processes that are gone included, so
 * that no counter ever goes back. Sluice's gauges are added up too, as they say how much there is of something. Gauges
 * of which a sum says nothing get a label `worker`: all that is known of the process itself, and those that name
 * another aggregator than `sum`.
 */
export class AddedMetrics {
  readonly #processes = new Map<number, Process>();
  #gone: readonly MetricSnapshot[] = [];

  /** @param id of the process, higher than those of all before it */
  update(id: number, worker: string, metrics: readonly MetricSnapshot[]): void {
    const known = this.#processes.get(id);
    const rounded = metrics.map(roundedSums);
    if (known === undefined) this.#processes.set(id, { worker, metrics: rounded });
    else known.metrics = rounded;
  }

  /** The process has ended. What it has counted stays. */
  depart(id: number): void {
    const process = this.#processes.get(id);
    this.#processes.delete(id);
    if (process === undefined) return;
    const gone = added([this.#gone, process.metrics.filter(({ type }) => type !== 'gauge')]);
    // Nothing is collected here: these are values, and at once, so that nobody reads the sum without them.
    this.#gone = gone.getMetricsAsArray() as unknown as MetricSnapshot[];
  }

  /** In Prometheus's text format. */
  text(): Promise<string> {
    const youngest = new Map([...this.#processes.values()].map((process) => [process.worker, process]));
    const present = [...this.#processes.values()].map((process) =>
      process.metrics.flatMap((metric) => {
        if (isSum(metric)) return [metric];
        // While one process takes another's place both have the same label, and only one may use it.
        return youngest.get(process.worker) === process ? [labelled(metric, process.worker)] : [];
      }),
    );
    return added([...present, this.#gone]).metrics();
  }
}

/** All metrics of a registry, collected now. */
export async function snapshotOf(registry: Registry): Promise<readonly MetricSnapshot[]> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot[];
}

function added(snapshots: readonly (readonly MetricSnapshot[])[]): Registry {
  return AggregatorRegistry.aggregate(snapshots as MetricSnapshot[][]);
}

function roundedSums(metric: MetricSnapshot): MetricSnapshot {
  if (metric.type === 'gauge') return metric;
  const values = metric.values.map((one) => ({ ...one, value: Math.round(one.value * PARTS) / PARTS }));
  return { ...metric, values };
}

function isSum({ type, name, aggregator }: MetricSnapshot): boolean {
  return type !== 'gauge' || (name.startsWith('sluice_') && aggregator === 'sum');
}

function labelled(metric: MetricSnapshot, worker: string): MetricSnapshot {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker } }));
  return { ...metric, aggregator: 'sum', values };
}
