import type { HistoryPosition } from '../../bus/history.ts';
import type { Metrics } from '../../metrics.ts';
import { SerializedResult } from '../result.ts';
import type { Subscriber } from '../subscriber.ts';
import { cursorOf } from './cursor.ts';

const OUTCOMES = ['new', 'recovered', 'lost'] as const;

/** The outcome for a client that resumes: it has no cursor, gets all events after its cursor, or may have missed some. */
export type Outcome = (typeof OUTCOMES)[number];

/** The first result for subscribers that resume: it has no data, and tells from where on they get events. */
export class Greetings {
  readonly #metrics: Metrics;
  /** Kept, as many subscribers that come at once get the same. */
  #last: { readonly text: string; readonly result: SerializedResult } | undefined;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    // Starts at 0: otherwise Prometheus would see no increase at the first.
    for (const outcome of OUTCOMES) metrics.resumes.inc({ outcome }, 0);
  }

  /** @param position undefined: the topic has no history at present */
  greet(subscriber: Subscriber, position: HistoryPosition | undefined, outcome: Outcome): void {
    const known = position && { cursor: cursorOf(position) };
    const text = `${known?.cursor} ${outcome}`;
    if (this.#last?.text !== text) {
      const extensions = { ...known, recovered: outcome !== 'lost' && known !== undefined };
      const at = position && ([position.epoch, position.sequence] as const);
      this.#last = { text, result: new SerializedResult({ data: null, extensions }, at) };
    }
    subscriber.deliver(this.#last.result);
    this.#metrics.resumes.inc({ outcome });
  }
}
