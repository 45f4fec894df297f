import type { JsonValue } from '../events/event.ts';
import { integerAs, realAs } from './conversions.ts';
import { malformed, type Cursor } from './cursor.ts';
import type { Shape } from './shape.ts';

/** Reads one value, without its tag. */
export type Read = (cursor: Cursor) => JsonValue;

/** Wire types: how the value of a field is written. */
export const VARINT = 0;
const FIXED_64 = 1;
export const LENGTH = 2;
export const GROUP_START = 3;
export const GROUP_END = 4;
const FIXED_32 = 5;

/** Wire types of scalars; all others are varints. */
export const FIXED_WIRES: Readonly<Record<string, number>> = {
  double: FIXED_64,
  float: FIXED_32,
  fixed32: FIXED_32,
  sfixed32: FIXED_32,
  fixed64: FIXED_64,
  sfixed64: FIXED_64,
  string: LENGTH,
  bytes: LENGTH,
};

/** Passes over a value of a field that the schema does not have. @param id number of the field */
export function skip(cursor: Cursor, wire: number, id: number): void {
  switch (wire) {
    case VARINT:
      cursor.unsignedVarint();
      return;
    case FIXED_64:
      cursor.bytes(8);
      return;
    case LENGTH:
      cursor.bytes(cursor.varint());
      return;
    case FIXED_32:
      cursor.bytes(4);
      return;
    case GROUP_START:
      skipGroup(cursor, id);
      return;
    default:
      throw malformed(`expected a wire type, got ${wire}`);
  }
}

function skipGroup(cursor: Cursor, group: number): void {
  cursor.countPart();
  cursor.enter();
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    const id = Math.floor(tag / 8);
    if ((tag & 7) === GROUP_END) {
      endGroup(cursor, id, group);
      return;
    }
    skip(cursor, tag & 7, id);
  }
  throw unendedGroup();
}

/** Ends reading a group. @param group number of the group's field; undefined: none has begun */
export function endGroup(cursor: Cursor, id: number, group: number | undefined): void {
  if (id !== group) throw malformed('expected a field, got the end of a group');
  cursor.leave();
}

export function unendedGroup(): Error {
  return malformed('expected the end of a group, got the end of the bytes');
}

export function expect(wire: number, expected: number, name: string): void {
  if (wire !== expected) throw malformed(`expected wire type ${expected} for the field ${name}, got ${wire}`);
}

/** Reads a value that has its length before it. */
export function limited<T>(cursor: Cursor, read: () => T): T {
  const end = cursor.limit(cursor.varint());
  const value = read();
  cursor.endAt(end);
  return value;
}

/** Returns the reader of a scalar of Protobuf's type. */
export function scalar(type: string, shape: Shape | undefined): Read {
  switch (type) {
    case 'double':
      return (cursor) => realAs(shape, cursor.double());
    case 'float':
      return (cursor) => realAs(shape, cursor.float());
    case 'int32':
      return (cursor) => integerAs(shape, cursor.varint32());
    case 'uint32':
      return (cursor) => integerAs(shape, cursor.varint32() >>> 0);
    case 'sint32':
    case 'sint64':
      return (cursor) => integerAs(shape, cursor.zigzag());
    case 'fixed32':
      return (cursor) => integerAs(shape, cursor.fixed32());
    case 'sfixed32':
      return (cursor) => integerAs(shape, cursor.fixed32() | 0);
    case 'int64':
      return (cursor) => integerAs(shape, cursor.signedVarint());
    case 'uint64':
      return (cursor) => integerAs(shape, cursor.unsignedVarint());
    case 'fixed64':
      return (cursor) => integerAs(shape, cursor.unsignedFixed64());
    case 'sfixed64':
      return (cursor) => integerAs(shape, cursor.signedFixed64());
    case 'bool':
      return (cursor) => Number(cursor.unsignedVarint()) !== 0;
    case 'string':
      return (cursor) => cursor.text(cursor.varint());
    default:
      return (cursor) => cursor.bytes(cursor.varint()).toString('base64');
  }
}

/** The value of a field that is not written and has no presence. */
export function zeroOf(type: string, shape: Shape | undefined): JsonValue {
  if (type === 'string' || type === 'bytes') return '';
  return type === 'bool' ? false : integerAs(shape, 0);
}
