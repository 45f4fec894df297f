import type { Gap } from './gap.ts';
import type { Payload, Result } from './graphql-ws.ts';
import type { Skipped } from './skipped.ts';

/** How far one subscription has come, over all sockets that it has had. */
export interface Position<P> {
  /**
   * A copy of what was subscribed with. Its `extensions.resume` changes in place: graphql-ws writes the payload to each
   * new socket as it is by then.
   */
  readonly payload: P;
  /** @returns whether the result is for the subscriber; the others are between server and client. */
  take(result: Result): boolean;
}

interface Notes {
  readonly cursor?: unknown;
  readonly recovered?: unknown;
  /** With `skipped` what was left out by choice, else what may be missing. */
  readonly gap?:
    | { readonly skipped: number }
    | { readonly topic: string; readonly at: number; readonly skipped?: undefined };
}

/**
 * @param payload with a cursor as its `extensions.resume` the subscription goes on behind that one
 * @param socket tells the sockets of the client apart: a number that is another one after each reconnect
 * @param onGap is called before the first result behind the gap
 * @param onSkipped is called before a result that stands for others
 */
export function startPosition<P extends Payload>(
  payload: P,
  socket: () => number,
  onGap: (gap: Gap<P>) => void,
  onSkipped?: (skipped: Skipped<P>) => void,
): Position<P> {
  const given = payload.extensions?.['resume'] ?? null;
  const extensions: { resume: unknown } = { ...payload.extensions, resume: given };
  /** The cursor of the last event; that of a greeting is of no event, or of one that is yet to be replayed. */
  let last = given;
  let heardOn = -1;
  /** Whether the server of this socket has greeted: others know no cursors, and their results are left alone. */
  let greeted = false;
  /** Whether there is something to go on from. */
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

  /** The first result of a socket. */
  function arrive(recovered: boolean, cursor: unknown): void {
    const isLost = begun && !(recovered && extensions.resume !== null);
    // Where all that was missed follows, each event brings its cursor; the greeting's could be ahead of them.
    if (isLost || !begun) extensions.resume = cursor ?? null;
    begun = begun || greeted;
    if (!isLost) return;
    // A Redis that has lost its last writes gives their sequences again, to other events.
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
