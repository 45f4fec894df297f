import { withoutArrival } from './consumed.ts';
import type { Consumed, Explained, Explanation, SubscriptionExplanation, Verdict } from './explanation.ts';

/** What one process has answered. */
export interface Answer {
  /** How it is called: `http://127.0.0.1:4001, worker 2`. */
  readonly process: string;
  readonly explanation: Explanation;
}

/** The answers of several processes to one question. */
export interface MergedExplanation extends Explanation {
  /** Which process has consumed the event; null: none of those that were asked. */
  readonly consumedBy: string | null;
  readonly recordings: readonly (Explanation['recording'] & { readonly process: string })[];
}

/** Of an event that has not come to a subscription: who has consumed it may know more. */
const OPEN_VERDICTS: ReadonlySet<Verdict> = new Set([
  'not recorded',
  'other channel',
  'did not reach this process',
]);

/**
 * Tells how an event was decoded and routed from the process that has consumed it, and what became of it from the one
 * that holds the connection.
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
    recordings: answers.map((answer) => ({ process: answer.process, ...answer.explanation.recording })),
    subscriptions: explanation.subscriptions.map((subscription) =>
      consumed === null || consumer === holder || !OPEN_VERDICTS.has(subscription.verdict)
        ? subscription
        : { ...subscription, ...knowing(consumed, subscription, explanation) },
    ),
  };
}

/** Of an event that has been consumed twice, as after a rebalance, the later time counts. */
const timeOf = ({ explanation }: Answer): number => Date.parse(explanation.consumed?.at ?? '');

function knowing(
  consumed: Consumed,
  subscription: SubscriptionExplanation,
  { recording }: Explanation,
): Explained {
  const said = withoutArrival(subscription, consumed);
  const isTooEarly = Date.parse(consumed.at) < Date.parse(recording.since);
  if (!isTooEarly || said.verdict !== 'did not reach this process') return said;
  const text = `the process that holds the connection records since ${recording.since} only`;
  return { verdict: 'not recorded', steps: [{ step: 'record', text }] };
}
