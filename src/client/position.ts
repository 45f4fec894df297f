import type { Gap } from './gap.ts';
import type { Payload, Result } from './graphql-ws.ts';
import type { Skipped } from './skipped.ts';

/** The position of one subscription, across all its sockets. */
export interface Position<P> {
  /**
   * A copy of the subscription's payload. Its `extensions.resume` changes in place, since graphql-ws writes the payload
   * to each new socket as it is by then.
   */
  readonly payload: P;
  /** @returns whether the result is for the subscriber; if not, it is a notice of the server, or a repeated event */
  take(result: Result): boolean;
}

interface Notes {
  readonly cursor?: unknown;
  readonly recovered?: unknown;
  /** With `skipped`, events were left out by choice of the graph; otherwise events may be missing. */
  readonly gap?:
    | { readonly skipped: number }
    | { readonly topic: string; readonly at: number; readonly skipped?: undefined };
}

/**
 * @param payload if its `extensions.resume` is a cursor, the subscription goes on behind this cursor
 * @param socket distinguishes the sockets of the client: returns another number after each reconnect
 * @param onGap is called before the first result behind the gap
 * @param onSkipped is called before a result that stands for earlier ones
 */
export function startPosition<P extends Payload>(
  payload: P,
  socket: () => number,
  onGap: (gap: Gap<P>) => void,
  onSkipped?: (skipped: Skipped<P>) => void,
): Position<P> {
  const given = payload.extensions?.['resume'] ?? null;
  const extensions: { resume: unknown } = { ...payload.extensions, resume: given };
  /** The cursor of the last event. A greeting's cursor does not count: its event is none, or yet to be replayed. */
  let last = given;
  let heardOn = -1;
  /** Whether the server of this socket has greeted. If not, it knows no cursors, and its results stay unchanged. */
  let greeted = false;
  /** Whether there is a position to go on from. */
  let begun = given !== null;

  function take(result: Result): boolean {
    const { cursor, recovered, gap } = (result.extensions ?? {}) as Notes;
    const isNotice = result.data === null && !result.errors;
    const isGreeting = isNotice && typeof recovered === 'boolean';
    if (isGreeting || heardOn !== socket()) {
      heardOn = socket();
      greeted = isGreeting;
      arrive(isGreeting && recovered === true, isGreeting ? cursor : undefined);
    }
    if (!greeted) return true;
    if (gap && gap.skipped === undefined) onGap({ payload, reason: 'gap', topic: gap.topic, at: gap.at });
    if (hasSkipped(result.errors)) onGap({ payload, reason: 'gap' });
    if (isGreeting || (isNotice && gap)) return false;
    if (typeof cursor === 'string') {
      if (cursor === last) return false;
      extensions.resume = last = cursor;
    }
    if (gap?.skipped !== undefined) onSkipped?.({ payload, skipped: gap.skipped });
    return true;
  }

  /** Called with each greeting, and with the first result of a socket. */
  function arrive(recovered: boolean, cursor: unknown): void {
    const isLost = begun && !(recovered && extensions.resume !== null);
    // If all missed events follow, each brings its cursor; the greeting's cursor could be ahead of them.
    if (isLost || !begun) extensions.resume = cursor ?? null;
    begun = begun || greeted;
    if (!isLost) return;
    // A Redis that has lost its last writes assigns their sequences again, to other events.
    last = null;
    onGap({ payload, reason: 'reconnect' });
  }

  return { payload: { ...payload, extensions }, take };
}

/** Whether events came faster than the server could execute them. */
function hasSkipped(errors: unknown): boolean {
  const all = (errors ?? []) as readonly { readonly extensions?: { readonly code?: unknown } }[];
  return all.some(({ extensions }) => extensions?.code === 'EVENTS_SKIPPED');
}
