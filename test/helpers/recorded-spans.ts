import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { Tracing } from '../../src/tracing/tracing.ts';

/** What is traced, and the spans that have ended since, in the order in which they have. */
export function recordedSpans(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler !== undefined && { sampler }),
  });
  return {
    tracing: new Tracing(provider.getTracer('test')),
    ended: (): readonly ReadableSpan[] => exporter.getFinishedSpans(),
    /** Each as its name, and that of the ended span that it is below. */
    names: (): readonly string[] => {
      const spans = exporter.getFinishedSpans();
      const nameOf = (id: string | undefined) =>
        spans.find((span) => span.spanContext().spanId === id)?.name ?? '–';
      return spans.map(({ name, parentSpanContext }) => `${name} < ${nameOf(parentSpanContext?.spanId)}`);
    },
  };
}
