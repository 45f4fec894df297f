import type { Publisher } from '../events/publisher.ts';

/** Called once per message, in the order in which the channel carries them. Must not throw. */
export type Listener = (payload: Buffer | string) => void;

/** One listener's place on one channel. */
export interface Subscription {
  /** Resolves when every message published from now on will reach the listener; rejects if it never will. */
  readonly ready: Promise<void>;
  /** No message reaches the listener after this. Calling it again does nothing. */
  leave(): void;
}

/** Carries messages from whoever publishes to the pods that are subscribed. At most once, in order per publisher. */
export interface Bus extends Publisher {
  /** Begins to connect. Does not wait: `notReady` tells when the bus has been reached. */
  start(): void;
  stop(): Promise<void>;
  subscribe(channel: string, listener: Listener): Subscription;
  /**
   * Asks for no more messages until `resume`. Those that have come already, and whatever comes on a connection made
   * anew, are handed over all the same; nothing is lost by it, unless the bus gives a listener up that stays away.
   */
  pause(): void;
  resume(): void;
  /** Why the bus can't be used yet; undefined once it has been reached, also through later outages. */
  notReady(): string | undefined;
}
