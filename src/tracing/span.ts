import type { Attributes, Context, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { formatTraceparent, type LoggedIds, type SpanIds, type TraceFields } from './traceparent.ts';

/** The package of the API: loaded only where spans are recorded. */
export type TraceApi = typeof import('@opentelemetry/api');

export interface TracingTools {
  readonly api: TraceApi;
  readonly tracer: Tracer;
}

/** How many spans may still begin for one event in this process. */
interface SpanBudget {
  left: number;
}

export type SpanKindName = keyof typeof SpanKind;

/** A span of a sampled trace, of this process or another, under which others begin. */
export class SpanPlace {
  readonly #tools: TracingTools;
  readonly #context: Context;
  readonly #ids: SpanIds;
  readonly #budget: SpanBudget;

  /** @param context of which it is the active span */
  constructor(tools: TracingTools, context: Context, ids: SpanIds, budget: SpanBudget) {
    this.#tools = tools;
    this.#context = context;
    this.#ids = ids;
    this.#budget = budget;
  }

  /** For what is sent on. */
  get fields(): TraceFields {
    const tracestate = this.#tools.api.trace.getSpanContext(this.#context)?.traceState?.serialize();
    const traceparent = formatTraceparent(this.#ids);
    return tracestate ? { traceparent, tracestate } : { traceparent };
  }

  get loggedIds(): LoggedIds {
    return { trace_id: this.#ids.traceId, span_id: this.#ids.spanId };
  }

  /** @returns undefined if the event has as many spans as it may have, or the sampler of this process refuses it */
  begin(name: string, kind: SpanKindName, attributes: Attributes = {}): OpenSpan | undefined {
    return this.#budget.left <= 0
      ? undefined
      : OpenSpan.begin(this.#tools, this.#context, this.#budget, name, kind, attributes);
  }

  /** Has it be the active span of OpenTelemetry's API meanwhile, where a context manager has been registered. */
  within<T>(work: () => T): T {
    return this.#tools.api.context.with(this.#context, work);
  }
}

/** A span that this process records. */
export class OpenSpan extends SpanPlace {
  readonly #span: Span;
  readonly #api: TraceApi;

  private constructor(tools: TracingTools, context: Context, span: Span, budget: SpanBudget) {
    super(tools, context, span.spanContext(), budget);
    this.#span = span;
    this.#api = tools.api;
  }

  /** @returns undefined if it is not sampled */
  static begin(
    tools: TracingTools,
    parent: Context,
    budget: SpanBudget,
    name: string,
    kind: SpanKindName,
    attributes: Attributes,
  ): OpenSpan | undefined {
    const { api, tracer } = tools;
    const span = tracer.startSpan(name, { kind: api.SpanKind[kind], attributes }, parent);
    const isSampled = (span.spanContext().traceFlags & api.TraceFlags.SAMPLED) !== 0;
    if (!isSampled || !span.isRecording()) return undefined;
    budget.left -= 1;
    return new OpenSpan(tools, api.trace.setSpan(parent, span), span, budget);
  }

  note(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** @param type a closed set of values */
  fail(type: string, message?: string): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  }

  /** To be called once. */
  end(): void {
    this.#span.end();
  }
}
