import type { JsonValue, KeyStyle } from '../events/event.ts';
import { snakeCase } from '../events/snake-case.ts';

/** Turns the bytes of a value into JSON. @throws DecodeError */
export type Decoder = (bytes: Buffer) => JsonValue;

/** The name under which the GraphQL schema has a field of this name. */
export type Naming = (field: string) => string;

export function namingOf(keyStyle: KeyStyle): Naming {
  return keyStyle === 'SNAKE' ? snakeCase : (name) => name;
}
