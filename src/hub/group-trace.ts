import { beginExecution } from '../context/execution-span.ts';
import type { Message } from '../events/message.ts';
import type { TracedSteps, EventTracer, TracedError, TracedFetch, TracedGroup } from '../events/trace.ts';
import type { OpenSpan, SpanPlace } from '../tracing/span.ts';
import type { ReadSet } from '../lazy/reads.ts';
import type { SerializedResult } from './result.ts';
import type { SkippedEvents } from './skipped-events.ts';
import type { Subscriber } from './subscriber.ts';

interface Ends {
  end(): void;
}

/**
 * Reports one event in one group, as steps and as spans:
 *
 *     dispatch bid_placed     until all its executions are over
 *       execute bid_placed    one execution, with the calls to back ends below it
 *       write bid_placed      from a result until it has been written to the sockets, once for all that share it
 */
export class GroupTrace {
  readonly #message: Message;
  readonly #group: TracedGroup;
  readonly #trace: EventTracer | undefined;
  readonly #parent: SpanPlace | undefined;
  #span: OpenSpan | undefined;

  constructor(
    message: Message,
    group: TracedGroup,
    trace: EventTracer | undefined,
    parent: SpanPlace | undefined,
  ) {
    this.#message = message;
    this.#group = group;
    this.#trace = trace;
    this.#parent = parent;
  }

  get #of() {
    return { message: this.#message, group: this.#group };
  }

  /** The group has a throttle, and the filter lets the event through for no subscriber. */
  filtered(subscribers: ReadonlySet<Subscriber>): void {
    this.#trace?.({ step: 'filtered', subscribers, ...this.#of });
  }

  /** @param passing the subscribers for which a throttle holds it */
  held(subscribers: ReadonlySet<Subscriber>, passing: ReadonlySet<Subscriber>): void {
    this.#trace?.({ step: 'held', subscribers, passing, ...this.#of });
  }

  /** @param by is held for these subscribers in its place */
  superseded(subscribers: ReadonlySet<Subscriber>, by: Message): void {
    this.#trace?.({ step: 'superseded', subscribers, by, ...this.#of });
  }

  dispatched(
    subscribers: ReadonlySet<Subscriber>,
    passing: ReadonlySet<Subscriber>,
    { isReplay, skipped }: { readonly isReplay: boolean; readonly skipped: SkippedEvents },
  ): void {
    const isSkippedFor = (subscriber: object): boolean => skipped.isSkipping(subscriber as Subscriber);
    this.#trace?.({ step: 'dispatched', subscribers, passing, isReplay, isSkippedFor, ...this.#of });
    // An event may be replayed any number of times, and long after its trace.
    if (isReplay) return;
    this.#span = this.#parent?.begin(`dispatch ${this.#group.field}`, 'INTERNAL', {
      'sluice.subscribers': passing.size,
    });
  }

  /** An execution begins. @returns its span, to be ended with `endExecution` */
  executing(): OpenSpan | undefined {
    const { field, operation } = this.#group;
    return beginExecution(this.#span, field, { kind: 'subscription', name: operation.name });
  }

  /** Results are about to be written. @returns a span, to be ended when they are written */
  writing(deliveries: number): OpenSpan | undefined {
    return this.#span?.begin(`write ${this.#group.field}`, 'INTERNAL', { 'sluice.deliveries': deliveries });
  }

  /** Connections have the result. @returns to be ended when they have written it; undefined: no one asks for steps */
  delivered(subscribers: Iterable<Subscriber>, { shared }: SerializedResult): Ends | undefined {
    const trace = this.#trace;
    if (trace === undefined) return undefined;
    trace({ step: 'delivered', subscribers, result: shared, ...this.#of });
    return { end: () => trace({ step: 'written', result: shared, ...this.#of }) };
  }

  executed(errors: readonly TracedError[] | undefined, fetches: readonly TracedFetch[]): void {
    this.#trace?.({ step: 'executed', errors, fetches, ...this.#of });
  }

  /** @param reads of the execution that has given the result */
  settled(subscribers: ReadonlySet<Subscriber>, reads: ReadSet): void {
    this.#trace?.({ step: 'settled', subscribers, reads: reads.paths, ...this.#of });
  }

  split(path: string): void {
    this.#trace?.({ step: 'split', path, ...this.#of });
  }

  ended(): void {
    this.#trace?.({ step: 'ended', ...this.#of });
    this.#span?.end();
  }
}

/**
 * @param span that the event comes from; undefined: it is not sampled
 * @returns undefined if no one asks for steps either, which is the usual case: then an event costs nothing extra
 */
export function traceOf(
  message: Message,
  group: TracedGroup,
  { trace }: { readonly trace?: TracedSteps | undefined },
  span: SpanPlace | undefined,
): GroupTrace | undefined {
  const listener = trace?.listener;
  if (listener === undefined && span === undefined) return undefined;
  return new GroupTrace(message, group, listener, span);
}
