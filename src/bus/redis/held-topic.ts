import type { Reservation } from '../../support/byte-budget.ts';
import type { Listener } from '../bus.ts';
import type { HeardTopic } from './heard-positions.ts';

/** A channel, until it is left. */
export interface Joined {
  /** Undefined once the channel is left: a listener that joins it anew must get no earlier messages. */
  listener: Listener | undefined;
}

/** A message that waits until earlier ones have been read. */
export interface Heard {
  readonly joined: Joined;
  readonly payload: Buffer | string;
}

/** The state of a stream when the connection was lost. */
export interface BeforeLoss {
  /** How far this pod had heard each topic of the stream. */
  readonly heard: ReadonlyMap<string, HeardTopic>;
  /** Channels whose listeners may miss something. */
  readonly channels: Set<string>;
}

/** A stream with messages that may be missing. */
export interface Held extends BeforeLoss {
  /** What has arrived since. */
  readonly messages: Heard[];
  readonly room: Reservation;
  /** Whether a publisher has said that messages are missing. */
  readonly isCertain: boolean;
  /** When it must have been read: ms. Undefined while there is no connection. */
  readBy: number | undefined;
  /** Aborts once the stream is not held any more, or must be read anew. */
  readonly over: AbortController;
}
