/** `version-traceid-parentid-flags`; ids of zeros only are invalid. Further parts belong to later versions than 00. */
const TRACEPARENT =
  /^(?!ff)(?!00-.{52}-)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** W3C Trace Context as it travels: as headers of HTTP and of Kafka, and as fields of a message of the bus. */
export interface TraceFields {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The same fields as received: each may be missing or malformed. */
export type GivenTrace = { readonly [Name in keyof TraceFields]?: string | undefined };

/** One span of a trace, of this process or another. */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0: sampled. */
  readonly traceFlags: number;
}

/** @returns undefined if the text is malformed */
export function parseTraceparent(text: string): SpanIds | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanIds): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The ids that log lines and exemplars have. */
export interface LoggedIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** @returns undefined if the traceparent is missing or malformed */
export function loggedIds(traceparent: string | undefined): LoggedIds | undefined {
  const ids = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  return ids && { trace_id: ids.traceId, span_id: ids.spanId };
}

/** Reads headers of HTTP or Kafka. A repeated header counts as absent. */
export function givenTrace(headers: Readonly<Record<string, unknown>>): GivenTrace {
  // CloudEvents have headers of their own for it.
  return {
    traceparent: valueOf(headers['traceparent'] ?? headers['ce_traceparent']),
    tracestate: valueOf(headers['tracestate'] ?? headers['ce_tracestate']),
  };
}

function valueOf(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? String(value) : undefined;
}
