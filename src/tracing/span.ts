import {
  context as contexts,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { formatTraceparent, type LoggedIds, type SpanIds, type TraceFields } from './traceparent.ts';

/** How many spans may still begin for one event in this process. */
interface SpanBudget {
  left: number;
}

export type SpanKindName = keyof typeof SpanKind;

/** A span of a sampled trace, of this process or another, under which further spans begin. */
export class SpanPlace {
  readonly #tracer: Tracer;
  readonly #context: Context;
  readonly #ids: SpanIds;
  readonly #budget: SpanBudget;

  /** @param context whose active span this is */
  constructor(tracer: Tracer, context: Context, ids: SpanIds, budget: SpanBudget) {
    this.#tracer = tracer;
    this.#context = context;
    this.#ids = ids;
    this.#budget = budget;
  }

  /** The fields for a request or message that continues the trace. */
  get fields(): TraceFields {
    const tracestate = trace.getSpanContext(this.#context)?.traceState?.serialize();
    const traceparent = formatTraceparent(this.#ids);
    return tracestate ? { traceparent, tracestate } : { traceparent };
  }

  get loggedIds(): LoggedIds {
    return { trace_id: this.#ids.traceId, span_id: this.#ids.spanId };
  }

  /** @returns undefined if the event has its maximum of spans, or the sampler of this process refuses the span */
  begin(name: string, kind: SpanKindName, attributes: Attributes = {}): OpenSpan | undefined {
    return this.#budget.left <= 0
      ? undefined
      : OpenSpan.begin(this.#tracer, this.#context, this.#budget, name, kind, attributes);
  }

  /** Makes this the active span of OpenTelemetry's API during `work`, if a context manager has been registered. */
  within<T>(work: () => T): T {
    return contexts.with(this.#context, work);
  }
}

/** A span that this process records. */
export class OpenSpan extends SpanPlace {
  readonly #span: Span;

  private constructor(tracer: Tracer, context: Context, span: Span, budget: SpanBudget) {
    super(tracer, context, span.spanContext(), budget);
    this.#span = span;
  }

  /** @returns undefined if the span is not sampled */
  static begin(
    tracer: Tracer,
    parent: Context,
    budget: SpanBudget,
    name: string,
    kind: SpanKindName,
    attributes: Attributes,
  ): OpenSpan | undefined {
    const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes }, parent);
    const isSampled = (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
    if (!isSampled || !span.isRecording()) return undefined;
    budget.left -= 1;
    return new OpenSpan(tracer, trace.setSpan(parent, span), span, budget);
  }

  note(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** @param type a closed set of values */
  fail(type: string, message?: string): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  }

  /** To be called once. */
  end(): void {
    this.#span.end();
  }
}
