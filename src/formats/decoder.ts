import type { JsonValue } from '../events/event.ts';

/** Turns the bytes of a value into JSON. @throws DecodeError */
export type Decoder = (bytes: Buffer) => JsonValue;

/** The name under which the GraphQL schema has a field of this name. */
export type Naming = (field: string) => string;
