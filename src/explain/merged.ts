import { withoutArrival } from './consumed.ts';
import type { Explanation, Known, Verdict } from './explanation.ts';

/** The answer of one process. */
export interface Answer {
  /** The name of the process: `http://127.0.0.1:4001, worker 2`. */
  readonly process: string;
  readonly explanation: Explanation;
}

/** The answers of several processes to one question. */
export interface MergedExplanation extends Explanation {
  /** The process that has consumed the event; null: none of the processes asked. */
  readonly consumedBy: string | null;
  readonly recordings: readonly Recording[];
}

/** The events of a topic that one process has recorded and kept. */
export type Recording = Known['recording'] & Pick<Known, 'kept'> & { readonly process: string };

export function recordingOf(process: string, { recording, kept }: Known): Recording {
  return { process, ...recording, kept };
}

/** Verdicts on an event that has not come to a subscription. The process that has consumed it may know more. */
const OPEN_VERDICTS: ReadonlySet<Verdict> = new Set([
  'not recorded',
  'other channel',
  'did not reach this process',
]);

/**
 * Merges answers: the process that has consumed the event tells how the event was decoded and routed, and the process
 * that holds the connection tells what became of the event there.
 */
export function merged(holder: Answer, others: readonly Answer[]): MergedExplanation {
  const answers = [holder, ...others];
  const { explanation } = holder;
  const consumer = answers
    .filter((answer) => answer.explanation.consumed !== null)
    .toSorted((one, other) => timeOf(other) - timeOf(one))[0];
  const consumed = consumer?.explanation.consumed ?? null;
  return {
    ...explanation,
    consumed,
    consumedBy: consumer?.process ?? null,
    recordings: answers.map((answer) => recordingOf(answer.process, answer.explanation)),
    subscriptions: explanation.subscriptions.map((subscription) =>
      consumed === null || consumer === holder || !OPEN_VERDICTS.has(subscription.verdict)
        ? subscription
        : { ...subscription, ...withoutArrival(subscription, consumed, explanation) },
    ),
  };
}

/** When the event was consumed. If it was consumed twice, as after a rebalance, the later time counts. */
const timeOf = ({ explanation }: Answer): number => Date.parse(explanation.consumed?.at ?? '');
