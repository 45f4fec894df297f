import type { Json } from '../lazy/reads.ts';
import type { Message } from '../events/message.ts';
import type { EventFilter } from '../graph/graph.ts';
import type { Explained, ExplainedStep, Verdict } from './explanation.ts';
import { messageOf, type KeptArrived } from './recently-arrived.ts';
import { shownList } from './shown-list.ts';

interface Plan {
  readonly channels: readonly string[];
  readonly filter?: EventFilter | undefined;
  readonly delivery?: { readonly throttleMs: number } | undefined;
}

interface Connection {
  readonly viewer: Json;
  /** Seconds since 1970. */
  readonly openedAt: number;
}

/**
 * Explains a message that came while nothing was recorded: its time and its channels are known, and the filter is
 * computed now.
 *
 * @returns undefined if the message has not come over a channel of the subscription
 */
export function arrived(plan: Plan, kept: KeptArrived, connection: Connection): Explained | undefined {
  const over = kept.channels.filter((channel) => plan.channels.includes(channel));
  if (over.length === 0) return undefined;
  const at = new Date(kept.at).toISOString();
  const came: ExplainedStep = { step: 'channel', text: `it came over ${shownList(over)} at ${at}` };
  if (kept.at < connection.openedAt * 1_000) {
    const opened = new Date(connection.openedAt * 1_000).toISOString();
    const text = `the connection was opened later, at ${opened}`;
    return { verdict: 'before it connected', steps: [came, { step: 'connect', text }] };
  }
  const { filter } = plan;
  if (filter === undefined) return letThrough(plan, [came]);
  const message = messageOf(kept);
  if (message === undefined) {
    const text =
      'it takes more room than there is for the last events, so that its filter can not be computed';
    return { verdict: 'not kept', steps: [came, { step: 'filter', text }] };
  }
  const { refusal, step } = filtered(filter, message, connection.viewer);
  return refusal === undefined ? letThrough(plan, [came, step]) : { verdict: refusal, steps: [came, step] };
}

/** The ring of the last messages does not tell what became of a message after the filter. */
function letThrough({ delivery }: Plan, steps: readonly ExplainedStep[]): Explained {
  const text =
    'whether the client had subscribed by then, and what it was sent, is known of events that are recorded';
  const execute: ExplainedStep = { step: 'execute', text };
  if (delivery === undefined || delivery.throttleMs === 0) {
    return { verdict: 'let through', steps: [...steps, execute] };
  }
  const throttle: ExplainedStep = {
    step: 'throttle',
    text: `the field is throttled, by throttleMs: ${delivery.throttleMs}: a later event may have taken its place`,
  };
  return { verdict: 'let through, or superseded', steps: [...steps, throttle, execute] };
}

function filtered(
  filter: EventFilter,
  { event }: Message,
  viewer: Json,
): { readonly refusal?: Verdict; readonly step: ExplainedStep } {
  const { directive, compared } = filter.compared?.(event, viewer) ?? {
    directive: '@filter',
    compared: [],
  };
  const passes = doesPass(filter, event, viewer);
  const lets = passes ? 'the event is let through' : `${directive} keeps the event back`;
  const text = `computed now, with the viewer as it is now: ${lets}`;
  const step: ExplainedStep = { step: 'filter', text, compared };
  if (passes) return { step };
  return { refusal: directive === '@auth' ? 'unauthorised' : 'filtered out', step };
}

/** Filters as dispatching does: a filter that fails lets no event through. */
function doesPass(filter: EventFilter, event: Message['event'], viewer: Json): boolean {
  try {
    return filter.passes(event, viewer);
  } catch {
    return false;
  }
}
