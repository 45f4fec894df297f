import { checkKey } from '../events/safe-keys.ts';
import type { JsonValue } from '../events/event.ts';
import { integerAs, realAs } from './conversions.ts';
import { Cursor } from './cursor.ts';
import type { Decoder, Naming } from './decoder.ts';
import { isEnum, type ProtobufField, type ProtobufMessage } from './protobuf-schema.ts';
import { WELL_KNOWN } from './protobuf-well-known.ts';
import {
  endGroup,
  expect,
  FIXED_WIRES,
  GROUP_END,
  GROUP_START,
  LENGTH,
  limited,
  scalar,
  skip,
  unendedGroup,
  VARINT,
  zeroOf,
  type Read,
} from './protobuf-wire.ts';
import type { Shape } from './shape.ts';

type Fields = Record<string, JsonValue>;

/** The parts of a field that say how one value of it is written. */
type ValueType = Pick<ProtobufField, 'type' | 'id' | 'resolvedType' | 'delimited'>;

/** Reads one occurrence of a field, and puts it into the message. */
type Take = (cursor: Cursor, message: Fields, wire: number) => void;

interface CompiledField {
  readonly name: string;
  /** Undefined: an object or a list of its own for each message. */
  readonly absent: JsonValue | undefined;
  readonly isList: boolean;
  readonly take: Take;
  readonly id: number;
}

/**
 * Compiles a message type to a function that decodes Protobuf's binary encoding to JSON. Each field is there: absent ones
 * have their default if the schema gives them one, otherwise null.
 *
 * @param shape of the event in the GraphQL schema
 */
export function protobufDecoder(type: ProtobufMessage, shape: Shape | undefined, naming: Naming): Decoder {
  const reader = new Compiler(naming).message(type, shape);
  return (bytes) => {
    const cursor = new Cursor(bytes);
    const message = reader.begin(cursor);
    reader.read(cursor, message);
    return message;
  };
}

/** Reads messages of one type. */
class MessageReader {
  readonly #compile: () => CompiledField[];
  #fields: CompiledField[] | undefined;
  readonly #byId = new Map<number, CompiledField>();

  constructor(compile: () => CompiledField[]) {
    this.#compile = compile;
  }

  /** A message without any field set. */
  begin(cursor: Cursor): Fields {
    // A type may be part of itself, and files may have thousands that no event has.
    if (this.#fields === undefined) {
      this.#fields = this.#compile();
      for (const field of this.#fields) this.#byId.set(field.id, field);
    }
    cursor.countObject(this.#fields.length);
    const message: Fields = {};
    for (const { name, absent, isList } of this.#fields) {
      message[name] = absent === undefined ? (isList ? [] : {}) : absent;
    }
    return message;
  }

  /** Reads the value of a field. */
  readValue(
    cursor: Cursor,
    message: Fields,
    { id, delimited }: Pick<ProtobufField, 'id' | 'delimited'>,
  ): void {
    if (delimited) this.read(cursor, message, id);
    else limited(cursor, () => this.read(cursor, message));
  }

  /** @param group number of the group's field; undefined: the message ends with the bytes */
  read(cursor: Cursor, message: Fields, group?: number): void {
    cursor.enter();
    while (!cursor.isAtEnd) {
      const tag = cursor.varint();
      const wire = tag & 7;
      const id = Math.floor(tag / 8);
      if (wire === GROUP_END) {
        endGroup(cursor, id, group);
        return;
      }
      const field = this.#byId.get(id);
      if (field === undefined) skip(cursor, wire, id);
      else field.take(cursor, message, wire);
    }
    if (group !== undefined) throw unendedGroup();
    cursor.leave();
  }
}

class Compiler {
  readonly #naming: Naming;
  readonly #readers = new Map<ProtobufMessage, Map<Shape | undefined, MessageReader>>();
  readonly #chosen = new Map<object, WeakMap<Fields, string>>();

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  message(type: ProtobufMessage, shape: Shape | undefined): MessageReader {
    let byShape = this.#readers.get(type);
    if (byShape === undefined) this.#readers.set(type, (byShape = new Map()));
    let reader = byShape.get(shape);
    if (reader === undefined) {
      reader = new MessageReader(() =>
        type.fieldsArray
          .filter(({ protoName }) => protoName !== '__proto__')
          .map((field) => this.#field(field, shape?.field(this.#naming(field.protoName)))),
      );
      byShape.set(shape, reader);
    }
    return reader;
  }

  #field(field: ProtobufField, shape: Shape | undefined): CompiledField {
    const { protoName: name, id } = field;
    if (field.map) return this.#map(field, shape);
    const read = this.#value(field, shape);
    if (field.repeated) {
      const take = repeated(name, read, wireOf(field));
      return { name, id, absent: undefined, isList: true, take };
    }
    return {
      name,
      id,
      absent: absentOf(field, shape),
      isList: false,
      take: this.#single(field, read, shape),
    };
  }

  /** A message that comes in parts is merged. */
  #single(field: ProtobufField, read: Read, shape: Shape | undefined): Take {
    const { protoName: name, resolvedType, partOf } = field;
    const expected = wireOf(field);
    const chosen = this.#chosenOf(partOf);
    const reader =
      resolvedType !== null && !isEnum(resolvedType) && !WELL_KNOWN.has(resolvedType.fullName)
        ? this.message(resolvedType, shape)
        : undefined;
    return (cursor, message, wire) => {
      expect(wire, expected, name);
      const other = chosen?.get(message);
      if (other !== undefined && other !== name) message[other] = null;
      chosen?.set(message, name);
      if (reader === undefined) {
        message[name] = read(cursor);
        return;
      }
      const whole = (message[name] ?? reader.begin(cursor)) as Fields;
      reader.readValue(cursor, whole, field);
      message[name] = whole;
    };
  }

  /** By message, the field of a oneof that is set; undefined if the field is of none. */
  #chosenOf(oneof: ProtobufField['partOf']): WeakMap<Fields, string> | undefined {
    if (oneof === null || oneof === undefined) return undefined;
    let chosen = this.#chosen.get(oneof);
    if (chosen === undefined) this.#chosen.set(oneof, (chosen = new WeakMap()));
    return chosen;
  }

  /** One value of a field, without its tag. */
  #value(value: ValueType, shape: Shape | undefined): Read {
    const { type, resolvedType } = value;
    if (resolvedType === null) return scalar(type, shape);
    if (isEnum(resolvedType)) {
      const { valuesById } = resolvedType;
      return (cursor) => {
        const number = cursor.varint32();
        const name = valuesById[number];
        if (name === undefined) return number;
        cursor.countName(name);
        return name;
      };
    }
    const known = WELL_KNOWN.get(resolvedType.fullName);
    if (known !== undefined) {
      return (cursor) => limited(cursor, () => known(cursor, shape));
    }
    const reader = this.message(resolvedType, shape);
    return (cursor) => {
      const message = reader.begin(cursor);
      reader.readValue(cursor, message, value);
      return message;
    };
  }

  /** A list of entries where the schema has a list of objects, otherwise an object. */
  #map(field: ProtobufField, shape: Shape | undefined): CompiledField {
    const { protoName: name, id, keyType = 'string' } = field;
    const isList = shape?.isList === true && shape.leaf === undefined;
    const value: ValueType = { type: field.type, id, resolvedType: field.resolvedType, delimited: false };
    const within = isList ? shape.field('value') : undefined;
    const readKey = scalar(keyType, isList ? shape.field('key') : undefined);
    const readValue = this.#value(value, within);
    const absentKey = zeroOf(keyType, isList ? shape.field('key') : undefined);
    const keyWire = FIXED_WIRES[keyType] ?? VARINT;
    const valueWire = wireOf(value);
    const take: Take = (cursor, message, wire) => {
      expect(wire, LENGTH, name);
      let key = absentKey;
      let held: JsonValue | undefined;
      limited(cursor, () => {
        while (!cursor.isAtEnd) {
          const tag = cursor.varint();
          const entryId = Math.floor(tag / 8);
          if (entryId === 1) {
            expect(tag & 7, keyWire, name);
            key = readKey(cursor);
          } else if (entryId === 2) {
            expect(tag & 7, valueWire, name);
            held = readValue(cursor);
          } else skip(cursor, tag & 7, entryId);
        }
      });
      held ??= this.#absentValue(cursor, value, within);
      if (isList) {
        cursor.countPart();
        (message[name] as JsonValue[]).push({ key, value: held });
        return;
      }
      const text = String(key);
      cursor.countKey(text);
      checkKey(text, held);
      (message[name] as Fields)[text] = held;
    };
    return { name, id, absent: undefined, isList, take };
  }

  /** The value of an entry that has none. */
  #absentValue(cursor: Cursor, { type, resolvedType }: ValueType, shape: Shape | undefined): JsonValue {
    if (resolvedType === null) return zeroOf(type, shape);
    if (isEnum(resolvedType)) return resolvedType.valuesById[0] ?? 0;
    return WELL_KNOWN.has(resolvedType.fullName) ? null : this.message(resolvedType, shape).begin(cursor);
  }
}

function repeated(name: string, read: Read, expected: number): Take {
  return (cursor, message, wire) => {
    const list = message[name] as JsonValue[];
    if (wire === LENGTH && expected !== LENGTH) {
      limited(cursor, () => {
        while (!cursor.isAtEnd) list.push(read(cursor));
      });
      return;
    }
    expect(wire, expected, name);
    list.push(read(cursor));
  };
}

function wireOf({ type, resolvedType, delimited }: ValueType): number {
  if (resolvedType === null) return FIXED_WIRES[type] ?? VARINT;
  if (isEnum(resolvedType)) return VARINT;
  return delimited ? GROUP_START : LENGTH;
}

function absentOf(field: ProtobufField, shape: Shape | undefined): JsonValue {
  const { type, resolvedType, hasPresence, partOf } = field;
  const stated = field.getOption('default');
  if (stated !== undefined) return statedDefault(stated, type, shape);
  const isMessage = resolvedType !== null && !isEnum(resolvedType);
  if (Boolean(hasPresence) || isMessage || (partOf ?? undefined) !== undefined) return null;
  if (resolvedType === null) return zeroOf(type, shape);
  return (isEnum(resolvedType) ? resolvedType.valuesById[0] : undefined) ?? 0;
}

/** A default that the .proto file gives. */
function statedDefault(stated: unknown, type: string, shape: Shape | undefined): JsonValue {
  if (typeof stated === 'boolean') return stated;
  if (type === 'bool') return stated === 'true';
  if (type === 'bytes') return Buffer.from(String(stated), 'latin1').toString('base64');
  if (typeof stated === 'number') {
    return type === 'double' || type === 'float' ? realAs(shape, stated) : integerAs(shape, stated);
  }
  return String(stated);
}
