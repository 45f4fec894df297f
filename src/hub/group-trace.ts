import type { Message } from '../events/message.ts';
import type { EventTracer, TracedError, TracedGroup } from '../events/trace.ts';
import type { Subscriber } from './subscriber.ts';

/** Tells of one event in one group. */
export class GroupTrace {
  readonly #message: Message;
  readonly #group: TracedGroup;
  readonly #trace: EventTracer;

  constructor(message: Message, group: TracedGroup, trace: EventTracer) {
    this.#message = message;
    this.#group = group;
    this.#trace = trace;
  }

  get #of() {
    return { message: this.#message, group: this.#group };
  }

  /** A throttle holds it, or the filter lets it through for no subscriber. */
  untaken(step: 'held' | 'filtered', subscribers: ReadonlySet<Subscriber>): void {
    this.#trace({ step, subscribers, ...this.#of });
  }

  dispatched(
    subscribers: ReadonlySet<Subscriber>,
    passing: ReadonlySet<Subscriber>,
    isReplay: boolean,
  ): void {
    this.#trace({ step: 'dispatched', subscribers, passing, isReplay, ...this.#of });
  }

  executed(errors: readonly TracedError[] | undefined): void {
    this.#trace({ step: 'executed', errors, ...this.#of });
  }

  settled(subscribers: ReadonlySet<Subscriber>): void {
    this.#trace({ step: 'settled', subscribers, ...this.#of });
  }

  ended(): void {
    this.#trace({ step: 'ended', ...this.#of });
  }
}

/** @returns undefined where no steps are asked for, as it mostly is: the way of an event costs nothing more then */
export function traceOf(
  message: Message,
  group: TracedGroup,
  { trace }: { readonly trace?: EventTracer | undefined },
): GroupTrace | undefined {
  return trace === undefined ? undefined : new GroupTrace(message, group, trace);
}
