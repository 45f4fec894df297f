import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricSnapshot } from './messages.ts';

/**
 * Values are rounded to multiples of 1 / PARTS. PARTS is a power of two, so sums are exact (seconds up to 17 years).
 * Otherwise a sum would depend on the order of the processes, and a counter might decrease by its last digit, which
 * Prometheus takes for a reset.
 */
const PARTS = 2 ** 24;

interface Process {
  /** Number of the worker; a process and the one that replaces it have the same. */
  readonly worker: string;
  metrics: readonly MetricSnapshot[];
}

/**
 * Aggregates the metrics of several processes to those of one pod:
 *
 * - Counters and histograms are added up, including those of processes that have ended, so that no counter decreases.
 * - Sluice's gauges are added up, since they are numbers of connections, groups and so on.
 * - Gauges whose sum is meaningless get a label `worker`: those of the process itself (memory, CPU), and those whose
 *   aggregator is not `sum`.
 */
export class AggregatedMetrics {
  readonly #processes = new Map<number, Process>();
  #ended: readonly MetricSnapshot[] = [];

  /**
   * Stores the latest metrics of a process.
   *
   * @param id of the process, higher than those of all earlier processes
   * @param worker number of the worker, as a label
   */
  update(id: number, worker: string, metrics: readonly MetricSnapshot[]): void {
    const known = this.#processes.get(id);
    const rounded = metrics.map(roundedSums);
    if (known === undefined) this.#processes.set(id, { worker, metrics: rounded });
    else known.metrics = rounded;
  }

  /** To be called when a process has ended. Its counters and histograms are kept. */
  end(id: number): void {
    const process = this.#processes.get(id);
    this.#processes.delete(id);
    if (process === undefined) return;
    const sum = aggregated([this.#ended, process.metrics.filter(({ type }) => type !== 'gauge')]);
    // Synchronously, so that `text` misses no metrics. The registry contains plain values, so nothing has to be
    // collected.
    this.#ended = sum.getMetricsAsArray() as unknown as MetricSnapshot[];
  }

  /** All metrics in Prometheus's text format. */
  text(): Promise<string> {
    const youngest = new Map([...this.#processes.values()].map((process) => [process.worker, process]));
    const present = [...this.#processes.values()].map((process) =>
      process.metrics.flatMap((metric) => {
        if (isSum(metric)) return [metric];
        // During a replacement two processes have the same label; only the younger one's gauges are reported.
        return youngest.get(process.worker) === process ? [labelled(metric, process.worker)] : [];
      }),
    );
    return aggregated([...present, this.#ended]).metrics();
  }
}

/** All metrics of a registry, collected now. */
export async function snapshotOf(registry: Registry): Promise<readonly MetricSnapshot[]> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricSnapshot[];
}

function aggregated(snapshots: readonly (readonly MetricSnapshot[])[]): Registry {
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

/** The primary serves no clients: the metrics of its own work would only distort those of the workers. */
export function isOfPrimary({ name, aggregator }: MetricSnapshot): boolean {
  return !name.startsWith('sluice_') || aggregator === 'sum';
}
