import type { Findings, Place } from '../diagnostic.ts';
import type { SlowPolicy } from '../graph.ts';

/** The values of `@delivery`. */
export interface DeliverySyntax {
  /** Name of an event field, or path to one; undefined: all events of a subscription supersede each other. */
  readonly conflateBy: string | undefined;
  /** 0: each event is delivered at once. */
  readonly throttleMs: number;
  readonly onSlow: SlowPolicy;
  /** Whether results may be compressed. */
  readonly compresses: boolean;
}

/** Ten minutes: a client that may wait longer can query instead. */
const MOST_THROTTLE_MS = 600_000;

/**
 * Reads the arguments of `@delivery`.
 *
 * @param values coerced
 * @param placeOfArgument position of the value of an argument, or of the directive
 */
export function readDelivery(
  values: Readonly<Record<string, unknown>>,
  placeOfArgument: (name: string) => Place,
  findings: Findings,
): DeliverySyntax {
  const conflateBy = typeof values['conflateBy'] === 'string' ? values['conflateBy'] : undefined;
  const throttleMs = typeof values['throttleMs'] === 'number' ? values['throttleMs'] : undefined;
  if (throttleMs !== undefined && (throttleMs < 1 || throttleMs > MOST_THROTTLE_MS)) {
    findings.error(
      placeOfArgument('throttleMs'),
      `expected throttleMs from 1 to ${MOST_THROTTLE_MS}, got ${throttleMs}`,
      'Leave it out to deliver each event at once.',
    );
  }
  const onSlow = (values['onSlow'] ?? 'DISCONNECT') as SlowPolicy;
  if (onSlow === 'CONFLATE' && conflateBy === undefined) {
    findings.error(
      placeOfArgument('onSlow'),
      'onSlow: CONFLATE without a key: expected conflateBy beside it',
      'Name the event field of which each value keeps its latest event.',
    );
  }
  if (conflateBy !== undefined && throttleMs === undefined && onSlow !== 'CONFLATE') {
    findings.error(
      placeOfArgument('conflateBy'),
      'conflateBy has no effect: expected throttleMs or onSlow: CONFLATE beside it',
      'Say for how long the latest event of each key is waited for: throttleMs: 250.',
    );
  }
  return { conflateBy, throttleMs: throttleMs ?? 0, onSlow, compresses: values['compress'] !== 'NEVER' };
}
