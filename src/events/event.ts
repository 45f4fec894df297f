export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A decoded event: always an object. Deep-frozen before resolvers see it. */
export type Event = { [key: string]: JsonValue };

/** Headers of a Kafka record as text; a header that repeats is a list. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A Kafka message, as a graph's own `decode` gets it. */
export interface KafkaMessage {
  readonly value: Buffer;
  /** Null if the message has no key. */
  readonly key: Buffer | null;
  readonly headers: Headers;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** ms since 1970, of the message's creation or arrival, as the topic is set; negative if the message has none. */
  readonly timestamp: number;
}

/**
 * Turns a Kafka message into an event. Messages without a value (tombstones) are not passed to it.
 *
 * @returns null if the message is no event on purpose: it is passed over, and is no dead letter
 */
export type Decode = (message: KafkaMessage) => Event | null | Promise<Event | null>;

/** Whether keys become snake_case or stay unchanged. */
export type KeyStyle = 'SNAKE' | 'KEEP';
