export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A decoded event: always an object. Deep-frozen before resolvers see it. */
export type Event = { [key: string]: JsonValue };

/** Headers of a Kafka record as text; a header that repeats is a list. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/**
 * Turns a Kafka record's value into an event.
 * Null means "not an event on purpose": the record is passed over without being counted as a dead letter.
 */
export type Decode = (value: Buffer, headers: Headers) => Event | null | Promise<Event | null>;

/** Whether keys become snake_case or stay as they come. */
export type KeyStyle = 'SNAKE' | 'KEEP';
