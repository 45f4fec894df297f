import type { DecodeError } from '../events/decode-error.ts';

/** An event as it is published: the same payload on each of its channels. */
export interface EncodedEvent {
  readonly channels: readonly string[];
  readonly payload: string;
}

/** What is in a message: an event, nothing on purpose (passed over), or nothing that can be used. */
export type EncodeResult = EncodedEvent | undefined | DecodeError;

/** A message whose channels are known before the rest of the work is done, which nobody may have asked for. */
export interface RoutedEvent {
  /** None of them has a subscriber: nobody needs what is in the message. */
  readonly channels: readonly string[];
  /** Does the rest of the work; to be called once. Never throws, never rejects. */
  encode(): EncodeResult | Promise<EncodeResult>;
}
