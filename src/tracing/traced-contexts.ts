import type { SpanPlace } from './span.ts';
import type { LoggedIds } from './traceparent.ts';

/** Spans by the context of a sampled execution: the code that logs its errors knows nothing else of the execution. */
const SPANS = new WeakMap<object, SpanPlace>();

export function setSpanOf(context: object, span: SpanPlace): void {
  SPANS.set(context, span);
}

/** @returns undefined if the execution is not sampled */
export function loggedIdsOf(context: unknown): LoggedIds | undefined {
  return typeof context === 'object' && context !== null ? SPANS.get(context)?.loggedIds : undefined;
}
