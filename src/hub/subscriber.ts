import type { GraphQLError } from 'graphql';
import type { Json } from '../lazy/reads.ts';
import type { Payload } from './result.ts';

/** A subscriber as the hub sees it. Transports implement it; neither method may throw. */
export interface Member {
  /** Who it is, deep-frozen; replaced as a whole and never changed. */
  readonly viewer: Json;
  /** One event's result. Called in the order of the events, from within the turn that has executed it. */
  deliver(payload: Payload): void;
  /** The hub lets go of this subscriber: no delivery follows. */
  end(errors: readonly GraphQLError[]): void;
}
