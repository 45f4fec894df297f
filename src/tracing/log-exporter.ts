import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Log } from '../log.ts';

/** Writes each span as a line of the log: the SDK's own exporter for `console` writes several lines, not JSON. */
export class LogExporter implements SpanExporter {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: { code: 0 }) => void): void {
    for (const span of spans) {
      const { name, parentSpanContext, duration, status, attributes } = span;
      const { traceId, spanId } = span.spanContext();
      const [seconds, nanoseconds] = duration;
      const line = {
        trace_id: traceId,
        span_id: spanId,
        parent_id: parentSpanContext?.spanId,
        ms: seconds * 1_000 + nanoseconds / 1_000_000,
        error: status.message,
        attributes,
      };
      this.#log.info(line, name);
    }
    done({ code: 0 });
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}
