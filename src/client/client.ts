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
   * Called where a subscription may have missed events, once for each subscription concerned, and never for its start:
   * fetch again what the page shows.
   */
  readonly onGap: (gap: Gap<P>) => void;
  /**
   * Called before an event that stands for others, which were left out as `@delivery` says: it came faster than the page
   * is to get it, or than its socket took it. What the page shows need not be fetched again.
   */
  readonly onSkipped?: (skipped: Skipped<P>) => void;
}

/**
 * The same client, whose subscriptions go on where they were after a lost connection. It connects again as often as
 * the options of graphql-ws say. Operations of a server that knows no cursors are left as they are.
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
