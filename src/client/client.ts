/** `sluice/client`, and all of the package `sluice-client`: for browsers, without a dependency, in ES2020. */
import type { Gap } from './gap.ts';
import type { Payload, Sink, SocketClient } from './graphql-ws.ts';
import { iterate } from './iterate.ts';
import { startPosition } from './position.ts';
import type { Skipped } from './skipped.ts';

export type { Gap } from './gap.ts';
export type { Skipped } from './skipped.ts';

export interface ResumableOptions<P = unknown> {
  /**
   * Called when a subscription may have missed events, once for each subscription concerned, and never for its start:
   * the page should fetch its data again.
   */
  readonly onGap: (gap: Gap<P>) => void;
  /**
   * Called before an event that stands for earlier ones, left out as `@delivery` says: they came faster than the page
   * is to get events, or than its socket took them. The page need not fetch its data again.
   */
  readonly onSkipped?: (skipped: Skipped<P>) => void;
}

/**
 * Returns a client like the given one, whose subscriptions go on where they were after a lost connection. It connects
 * again as often as the options of graphql-ws say. Operations of a server that knows no cursors stay unchanged.
 *
 * @param client what `createClient` of graphql-ws 6 or 5.16 has returned
 * @throws TypeError if `onGap` is no function
 * @example const client = resumable(createClient({ url, shouldRetry: () => true }), { onGap: fetchAgain });
 */
export function resumable<C extends SocketClient>(
  client: C,
  { onGap, onSkipped }: ResumableOptions<Parameters<C['subscribe']>[0]>,
): C {
  if (typeof onGap !== 'function') throw new TypeError(`Expected a function as onGap, got ${typeof onGap}`);
  let sockets = 0;
  client.on('connected', () => sockets++);

  function subscribe(payload: Payload, sink: Sink): () => void {
    const position = startPosition(payload, () => sockets, onGap, onSkipped);
    return client.subscribe(position.payload, {
      next(result) {
        if (position.take(result)) sink.next(result);
      },
      error: (error) => sink.error(error),
      complete: () => sink.complete(),
    });
  }

  return {
    ...client,
    subscribe,
    iterate: (payload: Payload) => iterate((sink) => subscribe(payload, sink)),
  };
}
