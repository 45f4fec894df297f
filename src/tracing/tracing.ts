import type { Attributes, Context } from '@opentelemetry/api';
import { OpenSpan, SpanPlace, type SpanKindName, type TracingTools } from './span.ts';
import { parseTraceparent, type SpanIds, type GivenTrace } from './traceparent.ts';

/**
 * Spans of one event, or one request, in one process. An event may be for thousands of groups, and have thousands of
 * calls made: a trace of all of them would help no one, and be dropped on its way.
 */
const MAX_SPANS = 100;

/**
 * Where spans begin. Whether an event is traced is decided once, where it is consumed: by what the producer says in its
 * headers, or by the sampler. What is not sampled has no objects here, and nothing on its way but comparisons.
 */
export class Tracing {
  readonly #tools: TracingTools;

  constructor(tools: TracingTools) {
    this.#tools = tools;
  }

  /**
   * Begins the first span of an event or a request in this process.
   *
   * @param from the headers of the sender; what is malformed counts as absent
   * @returns undefined if it is not sampled
   */
  begin(name: string, kind: SpanKindName, attributes: Attributes, from: GivenTrace): OpenSpan | undefined {
    const ids = idsOf(from);
    const { ROOT_CONTEXT } = this.#tools.api;
    const parent = ids === undefined ? ROOT_CONTEXT : this.#contextOf(ids, from);
    return OpenSpan.begin(this.#tools, parent, { left: MAX_SPANS }, name, kind, attributes);
  }

  /** Goes on with what another span has sent. @returns undefined if it is not sampled, or malformed */
  continued(from: GivenTrace): SpanPlace | undefined {
    const ids = idsOf(from);
    if (ids === undefined || (ids.traceFlags & this.#tools.api.TraceFlags.SAMPLED) === 0) return undefined;
    return new SpanPlace(this.#tools, this.#contextOf(ids, from), ids, { left: MAX_SPANS });
  }

  #contextOf(ids: SpanIds, { tracestate }: GivenTrace): Context {
    const { trace, createTraceState, ROOT_CONTEXT } = this.#tools.api;
    return trace.setSpanContext(ROOT_CONTEXT, {
      ...ids,
      isRemote: true,
      ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
    });
  }
}

function idsOf({ traceparent }: GivenTrace): SpanIds | undefined {
  return traceparent === undefined ? undefined : parseTraceparent(traceparent);
}
