import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { Tracing } from '../../src/tracing/tracing.ts';

/** Traces, and the spans that have ended, in the order in which they ended. */
export function recordedSpans(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler !== undefined && { sampler }),
  });
  return {
    tracing: new Tracing(provider.getTracer('test')),
    ended: (): readonly ReadableSpan[] => exporter.getFinishedSpans(),
    /** Each span as its name, with the name of its parent if that has ended. */
    names: (): readonly string[] => {
      const spans = exporter.getFinishedSpans();
      const nameOf = (id: string | undefined) =>
        spans.find((span) => span.spanContext().spanId === id)?.name ?? '–';
      return spans.map(({ name, parentSpanContext }) => `${name} < ${nameOf(parentSpanContext?.spanId)}`);
    },
  };
}
