import { checkKey } from '../events/safe-keys.ts';
import type { JsonValue } from '../events/event.ts';
import { readAvroSchema, type AvroRecord, type AvroType } from './avro-schema.ts';
import {
  bigIntOf,
  dateAs,
  decimalAs,
  integerAs,
  realAs,
  timeAs,
  timestampAs,
  withScale,
} from './conversions.ts';
import { Cursor, malformed } from './cursor.ts';
import type { Decoder, Naming } from './decoder.ts';
import type { Shape } from './shape.ts';

type Read = (cursor: Cursor) => JsonValue;

/**
 * Compiles a schema to a function that decodes Avro's binary encoding to JSON.
 *
 * @param text the schema that the value was written with, as JSON
 * @param references see readAvroSchema
 * @param shape of the event in the GraphQL schema
 * @throws SchemaFault
 */
export function avroDecoder(
  text: string,
  references: readonly string[],
  shape: Shape | undefined,
  naming: Naming,
): Decoder {
  const read = new Compiler(naming).compile(readAvroSchema(text, references), shape);
  return (bytes) => {
    const cursor = new Cursor(bytes);
    const value = read(cursor);
    if (!cursor.isAtEnd)
      throw malformed(`expected nothing behind the value, got ${cursor.rest().length} bytes`);
    return value;
  };
}

class Compiler {
  readonly #naming: Naming;
  /** A record may be part of itself. */
  readonly #records = new Map<AvroRecord, Map<Shape | undefined, Read>>();

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  compile(type: AvroType, shape: Shape | undefined): Read {
    switch (type.kind) {
      case 'record':
        return this.#record(type, shape);
      case 'union':
        return this.#union(type.types, shape);
      case 'array':
        return listOf(this.compile(type.items, shape));
      case 'map':
        return shape?.isList === true && shape.leaf === undefined
          ? entriesOf(this.compile(type.items, shape.field('value')))
          : objectOf(this.compile(type.items, shape?.leaf === undefined ? undefined : shape));
      case 'enum': {
        const { symbols } = type;
        return (cursor) => {
          const index = cursor.zigzag();
          const symbol = symbols[Number(index)];
          if (symbol === undefined)
            throw malformed(`expected one of ${symbols.length} symbols, got ${index}`);
          cursor.countName(symbol);
          return symbol;
        };
      }
      default:
        return leaf(type, shape);
    }
  }

  #record(record: AvroRecord, shape: Shape | undefined): Read {
    let byShape = this.#records.get(record);
    if (byShape === undefined) this.#records.set(record, (byShape = new Map()));
    const known = byShape.get(shape);
    if (known !== undefined) return known;
    // Compiled when it is first read: a schema may have thousands of records that no event has.
    let fields: { name: string; read: Read }[] | undefined;
    const read: Read = (cursor) => {
      fields ??= record.fields.map(({ name, type }) => {
        return { name, read: this.compile(type, shape?.field(this.#naming(name))) };
      });
      cursor.countObject(fields.length);
      cursor.enter();
      const object: Record<string, JsonValue> = {};
      for (const field of fields) object[field.name] = field.read(cursor);
      cursor.leave();
      return object;
    };
    byShape.set(shape, read);
    return read;
  }

  /** Objects of several records say which one they are, as GraphQL's unions and interfaces need it. */
  #union(types: readonly AvroType[], shape: Shape | undefined): Read {
    const records = types.filter(({ kind }) => kind === 'record').length;
    const reads = types.map((type): Read => {
      const read = this.compile(type, shape);
      if (type.kind !== 'record' || records < 2) return read;
      return (cursor) => ({ __typename: type.name, ...(read(cursor) as Record<string, JsonValue>) });
    });
    return (cursor) => {
      const index = cursor.zigzag();
      const read = reads[Number(index)];
      if (read === undefined)
        throw malformed(`expected one of ${reads.length} types of a union, got ${index}`);
      return read(cursor);
    };
  }
}

/** Calls `item` for each item of a list or a map, which are written in blocks. */
function eachItem(cursor: Cursor, item: () => void): void {
  cursor.countPart();
  cursor.enter();
  for (;;) {
    let count = Number(cursor.zigzag());
    if (count === 0) break;
    if (count < 0) {
      // The bytes of the block, for readers that pass over it.
      cursor.zigzag();
      count = -count;
    }
    for (; count > 0; count -= 1) {
      const { at } = cursor;
      item();
      // 2^31 items that take no bytes can be asked for with five bytes.
      if (cursor.at === at) cursor.countPart();
    }
  }
  cursor.leave();
}

function listOf(read: Read): Read {
  return (cursor) => {
    const list: JsonValue[] = [];
    eachItem(cursor, () => list.push(read(cursor)));
    return list;
  };
}

function entriesOf(read: Read): Read {
  return (cursor) => {
    const list: JsonValue[] = [];
    eachItem(cursor, () => {
      cursor.countPart();
      list.push({ key: textIn(cursor), value: read(cursor) });
    });
    return list;
  };
}

function objectOf(read: Read): Read {
  return (cursor) => {
    const object: Record<string, JsonValue> = {};
    eachItem(cursor, () => {
      const key = textIn(cursor);
      cursor.countKey(key);
      const value = read(cursor);
      checkKey(key, value);
      object[key] = value;
    });
    return object;
  };
}

function textIn(cursor: Cursor): string {
  return cursor.text(Number(cursor.zigzag()));
}

/** Bytes of a decimal number: writing a number of a million digits takes seconds. */
const MAX_DECIMAL = 512;

type Leaf = Exclude<AvroType, { kind: 'record' | 'enum' | 'array' | 'map' | 'union' }>;

function leaf({ kind, logical, scale, size }: Leaf, shape: Shape | undefined): Read {
  switch (kind) {
    case 'null':
      return () => null;
    case 'boolean':
      return (cursor) => cursor.byte() !== 0;
    case 'int':
    case 'long':
      return integer(logical, shape);
    case 'float':
      return (cursor) => realAs(shape, cursor.float());
    case 'double':
      return (cursor) => realAs(shape, cursor.double());
    case 'string':
      return textIn;
    default: {
      const bytes =
        kind === 'fixed'
          ? (cursor: Cursor) => cursor.bytes(size)
          : (cursor: Cursor, most?: number) => cursor.bytes(Number(cursor.zigzag()), most);
      if (logical === 'decimal') {
        return (cursor) => decimalAs(shape, withScale(bigIntOf(bytes(cursor, MAX_DECIMAL)), scale));
      }
      if (logical === 'uuid' && size === 16) return (cursor) => uuid(bytes(cursor));
      if (logical === 'duration' && size === 12) return (cursor) => duration(bytes(cursor));
      return (cursor) => bytes(cursor).toString('base64');
    }
  }
}

function integer(logical: string | undefined, shape: Shape | undefined): Read {
  switch (logical) {
    case 'date':
      return (cursor) => dateAs(shape, Number(cursor.zigzag()));
    case 'time-millis':
      return (cursor) => timeAs(shape, cursor.zigzag(), 3);
    case 'time-micros':
      return (cursor) => timeAs(shape, cursor.zigzag(), 6);
    case 'time-nanos':
      return (cursor) => timeAs(shape, cursor.zigzag(), 9);
    case 'timestamp-millis':
      return (cursor) => timestampAs(shape, cursor.zigzag(), 3, 'Z');
    case 'timestamp-micros':
      return (cursor) => timestampAs(shape, cursor.zigzag(), 6, 'Z');
    case 'timestamp-nanos':
      return (cursor) => timestampAs(shape, cursor.zigzag(), 9, 'Z');
    case 'local-timestamp-millis':
      return (cursor) => timestampAs(shape, cursor.zigzag(), 3, '');
    case 'local-timestamp-micros':
      return (cursor) => timestampAs(shape, cursor.zigzag(), 6, '');
    case 'local-timestamp-nanos':
      return (cursor) => timestampAs(shape, cursor.zigzag(), 9, '');
    default:
      return (cursor) => integerAs(shape, cursor.zigzag());
  }
}

function uuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** As in ISO 8601. */
function duration(bytes: Buffer): string {
  const [months, days, ms] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
  return `P${months}M${days}DT${ms / 1_000}S`;
}
