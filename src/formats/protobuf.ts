import { checkKey } from '../events/safe-keys.ts';
import type { JsonValue } from '../events/event.ts';
import { instant, integerAs, realAs } from './conversions.ts';
import { Cursor, malformed } from './cursor.ts';
import type { Decoder, Naming } from './decoder.ts';
import { isEnum, type ProtobufField, type ProtobufMessage } from './protobuf-schema.ts';
import type { Shape } from './shape.ts';

type Fields = Record<string, JsonValue>;
type Read = (cursor: Cursor) => JsonValue;

/** How a value is written. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED_32 = 5;

/** What says how one value of a field is written. */
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

  /** @param group number of the group's field; undefined: the message ends with the bytes */
  read(cursor: Cursor, message: Fields, group?: number): void {
    cursor.enter();
    while (!cursor.isAtEnd) {
      const tag = cursor.varint();
      const wire = tag & 7;
      const id = Math.floor(tag / 8);
      if (wire === GROUP_END) {
        if (id !== group) throw malformed('expected a field, got the end of a group');
        cursor.leave();
        return;
      }
      const field = this.#byId.get(id);
      if (field === undefined) skip(cursor, wire, id);
      else field.take(cursor, message, wire);
    }
    if (group !== undefined) throw malformed('expected the end of a group, got the end of the bytes');
    cursor.leave();
  }
}

function skip(cursor: Cursor, wire: number, id: number): void {
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
      UNKNOWN.read(cursor, UNKNOWN.begin(cursor), id);
      return;
    default:
      throw malformed(`expected a wire type, got ${wire}`);
  }
}

/** A message of which no field is known. */
const UNKNOWN = new MessageReader(() => []);

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
    const { protoName: name, id, resolvedType, partOf, delimited } = field;
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
      if (delimited) reader.read(cursor, whole, id);
      else limited(cursor, () => reader.read(cursor, whole));
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
  #value({ type, id, resolvedType, delimited }: ValueType, shape: Shape | undefined): Read {
    if (resolvedType === null) return scalar(type, shape);
    if (isEnum(resolvedType)) {
      const { valuesById } = resolvedType;
      return (cursor) => {
        const value = cursor.varint32();
        const name = valuesById[value];
        if (name === undefined) return value;
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
      if (delimited) reader.read(cursor, message, id);
      else limited(cursor, () => reader.read(cursor, message));
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

function expect(wire: number, expected: number, name: string): void {
  if (wire !== expected) throw malformed(`expected wire type ${expected} for the field ${name}, got ${wire}`);
}

/** Reads what has its length before it. */
function limited<T>(cursor: Cursor, read: () => T): T {
  const end = cursor.limit(cursor.varint());
  const value = read();
  cursor.endAt(end);
  return value;
}

const FIXED_WIRES: Readonly<Record<string, number>> = {
  double: FIXED_64,
  float: FIXED_32,
  fixed32: FIXED_32,
  sfixed32: FIXED_32,
  fixed64: FIXED_64,
  sfixed64: FIXED_64,
  string: LENGTH,
  bytes: LENGTH,
};

function wireOf({ type, resolvedType, delimited }: ValueType): number {
  if (resolvedType === null) return FIXED_WIRES[type] ?? VARINT;
  if (isEnum(resolvedType)) return VARINT;
  return delimited ? GROUP_START : LENGTH;
}

function scalar(type: string, shape: Shape | undefined): Read {
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
function zeroOf(type: string, shape: Shape | undefined): JsonValue {
  if (type === 'string' || type === 'bytes') return '';
  return type === 'bool' ? false : integerAs(shape, 0);
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

/** Reads a message of which JSON has a form of its own, up to its end. */
type WellKnown = (cursor: Cursor, shape: Shape | undefined) => JsonValue;

/** Wrapped scalars are what they wrap, or null. */
const WRAPPED: Readonly<Record<string, string>> = {
  DoubleValue: 'double',
  FloatValue: 'float',
  Int64Value: 'int64',
  UInt64Value: 'uint64',
  Int32Value: 'int32',
  UInt32Value: 'uint32',
  BoolValue: 'bool',
  StringValue: 'string',
  BytesValue: 'bytes',
};

const WELL_KNOWN: ReadonlyMap<string, WellKnown> = new Map<string, WellKnown>([
  ...Object.entries(WRAPPED).map(([name, type]): [string, WellKnown] => [
    `.google.protobuf.${name}`,
    (cursor, shape) => {
      const field = { wire: FIXED_WIRES[type] ?? VARINT, read: scalar(type, shape) };
      return fieldsIn(cursor, [field])[0] ?? zeroOf(type, shape);
    },
  ]),
  ['.google.protobuf.Timestamp', timestamp],
  ['.google.protobuf.Duration', duration],
  ['.google.protobuf.Struct', struct],
  ['.google.protobuf.Value', anyValue],
  ['.google.protobuf.ListValue', listValue],
  ['.google.protobuf.FieldMask', fieldMask],
]);

interface KnownField {
  readonly wire: number;
  readonly read: Read;
}

/** Reads fields 1, 2, … of a message. */
function fieldsIn(cursor: Cursor, reads: readonly KnownField[]): (JsonValue | undefined)[] {
  const values: (JsonValue | undefined)[] = [];
  eachField(cursor, (id, wire) => {
    const field = reads[id - 1];
    if (field === undefined) {
      skip(cursor, wire, id);
      return;
    }
    expect(wire, field.wire, String(id));
    values[id - 1] = field.read(cursor);
  });
  return values;
}

function eachField(cursor: Cursor, take: (id: number, wire: number) => void): void {
  cursor.countPart();
  cursor.enter();
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    take(Math.floor(tag / 8), tag & 7);
  }
  cursor.leave();
}

const SECONDS_AND_NANOS: readonly KnownField[] = [
  { wire: VARINT, read: (cursor) => Number(cursor.signedVarint()) },
  { wire: VARINT, read: (cursor) => cursor.varint32() },
];

/** The seconds that JSON may have for a point in time: the years 1 to 9999. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800, 253_402_300_799];

function timestamp(cursor: Cursor): JsonValue {
  const [seconds = 0, nanos = 0] = fieldsIn(cursor, SECONDS_AND_NANOS) as number[];
  const isTime = seconds >= FIRST_SECOND && seconds <= LAST_SECOND && nanos >= 0 && nanos <= 999_999_999;
  if (!isTime) return `${seconds} s and ${nanos} ns since 1970`;
  return instant(seconds, fractionOf(nanos), 'Z');
}

function duration(cursor: Cursor): JsonValue {
  const [seconds = 0, nanos = 0] = fieldsIn(cursor, SECONDS_AND_NANOS) as number[];
  const sign = seconds < 0 || nanos < 0 ? '-' : '';
  const fraction = fractionOf(Math.abs(nanos));
  return `${sign}${Math.abs(seconds)}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** None, three, six or nine digits, as JSON has them. */
function fractionOf(nanos: number): string {
  return nanos === 0
    ? ''
    : String(nanos)
        .padStart(9, '0')
        .replace(/(?:000){1,2}$/, '');
}

function fieldMask(cursor: Cursor): JsonValue {
  const paths: string[] = [];
  eachField(cursor, (id, wire) => {
    if (id === 1) paths.push(cursor.text(cursor.varint()));
    else skip(cursor, wire, id);
  });
  return paths.join(',');
}

function struct(cursor: Cursor): JsonValue {
  const object: Fields = {};
  eachField(cursor, (id, wire) => {
    if (id !== 1) {
      skip(cursor, wire, id);
      return;
    }
    limited(cursor, () => {
      const [key = '', value = null] = fieldsIn(cursor, [
        { wire: LENGTH, read: (within) => within.text(within.varint()) },
        { wire: LENGTH, read: (within) => limited(within, () => anyValue(within)) },
      ]);
      cursor.countKey(String(key));
      checkKey(String(key), value);
      object[String(key)] = value;
    });
  });
  return object;
}

function anyValue(cursor: Cursor): JsonValue {
  let value: JsonValue = null;
  eachField(cursor, (id, wire) => {
    if (id === 2) value = realAs(undefined, cursor.double());
    else if (id === 3) value = cursor.text(cursor.varint());
    else if (id === 4) value = Number(cursor.unsignedVarint()) !== 0;
    else if (id === 5) value = limited(cursor, () => struct(cursor));
    else if (id === 6) value = limited(cursor, () => listValue(cursor));
    else skip(cursor, wire, id);
  });
  return value;
}

function listValue(cursor: Cursor): JsonValue {
  const list: JsonValue[] = [];
  eachField(cursor, (id, wire) => {
    if (id === 1) list.push(limited(cursor, () => anyValue(cursor)));
    else skip(cursor, wire, id);
  });
  return list;
}
