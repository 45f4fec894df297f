import type { GraphQLError } from 'graphql';
import type { Json } from '../lazy/reads.ts';
import type { WorkOwner } from '../support/fair-limiter.ts';
import type { SerializedResult } from './result.ts';

/** The owner of the work that is done for a subscriber. */
export function workOwnerOf({ owner }: Pick<Subscriber, 'owner'>): WorkOwner {
  return (owner as { readonly client?: string | undefined }).client ?? owner;
}

/** One GraphQL subscription of one client, as the hub sees it. Transports implement it; no method may throw. */
export interface Subscriber {
  /** Who has connected: what the graph's `authenticate` returned, deep-frozen; replaced as a whole and never changed. */
  readonly viewer: Json;
  /** The connection of the subscription. Its `client` is the key of the client, if known. */
  readonly owner: object;
  /** Whether the client has asked to be told where events may be missing: then it gets a result that says so. */
  readonly wantsGaps: boolean;
  /** Many results that it got still wait for its client. */
  readonly isBehind: boolean;
  /** Takes one event's result. Called in the order of the events, from within the turn that has executed it. */
  deliver(result: SerializedResult): void;
  /**
   * Events may be missing, and the client has not asked to be told: it is to connect and fetch again. Until it does,
   * the subscription goes on.
   */
  reconnect(): void;
  /**
   * Ends the subscription: the hub has removed it, and delivers nothing more.
   *
   * @param errors sent to the client; none if the subscription completes
   */
  end(errors: readonly GraphQLError[]): void;
}
