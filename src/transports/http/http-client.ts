import type { Job, Turns, TurnTaker } from '../../support/turns.ts';

/** A connection, or a client with several: requests use its turns of the event loop. */
export interface RequestOwner extends TurnTaker {
  /** The smallest part of the owner's share that a request uses, in seconds. */
  readonly secondsOfRequest: number;
}

/** Where a request comes from. */
export interface HttpClient {
  /** The connection for which requests, queries and bytes are counted. */
  readonly connection: object;
  readonly owner: RequestOwner;
  /** Undefined if it is not known. */
  readonly address: string | undefined;
  /** Aborted when the connection is closed before the response. */
  readonly signal: AbortSignal;
}

/**
 * Begins a job in a client's turn.
 *
 * @param seconds the least part of the owner's share that it takes
 * @returns undefined if the client leaves before its turn
 */
export function inTurn<T>(
  turns: Pick<Turns, 'run' | 'leave'>,
  { owner, signal }: HttpClient,
  seconds: number,
  begin: () => Promise<T>,
): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const job: Job = () => {
      signal.removeEventListener('abort', leave);
      resolve(begin());
      return seconds;
    };
    const leave = (): void => {
      if (place !== undefined) turns.leave(owner, place);
      resolve(undefined);
    };
    const place = turns.run(owner, job);
    if (place !== undefined) signal.addEventListener('abort', leave, { once: true });
  });
}
