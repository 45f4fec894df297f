import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { OpenSpan, SpanPlace, type SpanKindName } from './span.ts';
import { parseTraceparent, type SpanIds, type GivenTrace } from './traceparent.ts';

/**
 * Maximum spans of one event, or one request, in one process. An event may be for thousands of groups, and cause
 * thousands of calls: a trace of all of them would be useless, and be dropped on its way.
 */
const MAX_SPANS = 100;

/**
 * Begins spans. The process that consumes an event decides once whether the event is traced: by the producer's headers,
 * or by the sampler. An event that is not sampled has no objects here, and costs only comparisons on its way.
 */
export class Tracing {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /**
   * Begins the first span of an event or a request in this process.
   *
   * @param from the headers of the sender; malformed ones count as absent
   * @returns undefined if the span is not sampled
   */
  begin(name: string, kind: SpanKindName, attributes: Attributes, from: GivenTrace): OpenSpan | undefined {
    const ids = idsOf(from);
    const parent = ids === undefined ? ROOT_CONTEXT : contextOf(ids, from);
    return OpenSpan.begin(this.#tracer, parent, { left: MAX_SPANS }, name, kind, attributes);
  }

  /** Continues the trace of a received span. @returns undefined if the span is not sampled, missing or malformed */
  continued(from: GivenTrace): SpanPlace | undefined {
    const ids = idsOf(from);
    if (ids === undefined || (ids.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
    return new SpanPlace(this.#tracer, contextOf(ids, from), ids, { left: MAX_SPANS });
  }
}

function contextOf(ids: SpanIds, { tracestate }: GivenTrace): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...ids,
    isRemote: true,
    ...(typeof tracestate === 'string' && { traceState: createTraceState(tracestate) }),
  });
}

function idsOf({ traceparent }: GivenTrace): SpanIds | undefined {
  return traceparent === undefined ? undefined : parseTraceparent(traceparent);
}
