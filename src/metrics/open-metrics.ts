import { Registry, type Metric, type OpenMetricsContentType } from 'prom-client';

/**
 * Writes a registry's metrics in OpenMetrics' text format, which has exemplars. Writes them from a copy, as a registry
 * that writes this format renames its counters.
 */
export async function openMetrics(registry: Pick<Registry, 'getMetricsAsJSON'>): Promise<string> {
  const open = new Registry<OpenMetricsContentType>();
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of await registry.getMetricsAsJSON()) {
    const name = String(metric.type) === 'counter' ? metric.name.replace(/_total$/, '') : metric.name;
    open.registerMetric({ name: metric.name, get: async () => ({ ...metric, name }) } as unknown as Metric);
  }
  return open.metrics();
}
