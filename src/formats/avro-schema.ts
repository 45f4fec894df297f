import { isRecord } from '../support/kind-of.ts';
import { SchemaFault } from './schema-fault.ts';

interface Documented {
  readonly doc?: string | undefined;
}

export interface AvroField extends Documented {
  readonly name: string;
  readonly type: AvroType;
}

export interface AvroRecord extends Documented {
  readonly kind: 'record';
  /** Without its namespace. */
  readonly name: string;
  readonly fields: AvroField[];
}

interface AvroEnum extends Documented {
  readonly kind: 'enum';
  readonly name: string;
  readonly symbols: readonly string[];
}

/** Types that hold one value, and how it is to be understood. */
interface AvroPrimitive {
  readonly kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string' | 'fixed';
  /** Bytes of `fixed`. */
  readonly size: number;
  readonly logical: string | undefined;
  /** Digits behind the point of a decimal. */
  readonly scale: number;
}

export type AvroType =
  | AvroPrimitive
  | AvroRecord
  | AvroEnum
  | { readonly kind: 'array' | 'map'; readonly items: AvroType }
  | { readonly kind: 'union'; readonly types: readonly AvroType[] };

const PRIMITIVES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
]);

/** Digits behind the point. */
const MAX_SCALE = 1_000;

/** Times of Debezium, which Kafka Connect marks by names of its own. */
const OF_CONNECT: Readonly<Record<string, string>> = {
  'io.debezium.time.Date': 'date',
  'io.debezium.time.Time': 'time-millis',
  'io.debezium.time.MicroTime': 'time-micros',
  'io.debezium.time.NanoTime': 'time-nanos',
  'io.debezium.time.Timestamp': 'timestamp-millis',
  'io.debezium.time.MicroTimestamp': 'timestamp-micros',
  'io.debezium.time.NanoTimestamp': 'timestamp-nanos',
};

/** The names that schemas have defined so far. */
type Names = Map<string, AvroType>;

/**
 * Reads an Avro schema. Defaults and aliases are for readers with a schema of their own, and are passed over.
 *
 * @param text JSON
 * @param references schemas that define names it uses, each behind those that it uses itself
 * @throws SchemaFault
 */
export function readAvroSchema(text: string, references: readonly string[] = []): AvroType {
  const names: Names = new Map();
  for (const reference of references) new SchemaReader(names).read(parsed(reference), '');
  return new SchemaReader(names).read(parsed(text), '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A name alone is a schema, too, and registries take it without quotes.
    if (PRIMITIVES.has(text.trim())) return text.trim();
    throw new SchemaFault('expected a schema as JSON, got something else', { cause });
  }
}

class SchemaReader {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  read(schema: unknown, namespace: string): AvroType {
    if (typeof schema === 'string') return this.#named(schema, namespace);
    if (Array.isArray(schema)) {
      return { kind: 'union', types: schema.map((one: unknown) => this.read(one, namespace)) };
    }
    if (!isRecord(schema)) throw new SchemaFault(`expected a type, got ${JSON.stringify(schema)}`);
    const { type } = schema;
    switch (type) {
      case 'record':
      case 'error':
        return this.#record(schema, namespace);
      case 'enum':
        return this.#define(schema, namespace, ({ name }) => {
          return { kind: 'enum', name, symbols: texts(schema, 'symbols'), doc: docOf(schema) };
        });
      case 'fixed':
        return this.#define(schema, namespace, () => primitiveOf('fixed', schema));
      case 'array':
        return { kind: 'array', items: this.read(schema['items'], namespace) };
      case 'map':
        return { kind: 'map', items: this.read(schema['values'], namespace) };
      default:
        if (typeof type === 'string' && PRIMITIVES.has(type)) {
          return primitiveOf(type as AvroPrimitive['kind'], schema);
        }
        return this.read(type, namespace);
    }
  }

  #named(name: string, namespace: string): AvroType {
    if (PRIMITIVES.has(name)) return primitiveOf(name as AvroPrimitive['kind'], {});
    const known =
      (name.includes('.') || namespace === '' ? undefined : this.#names.get(`${namespace}.${name}`)) ??
      this.#names.get(name);
    if (known === undefined) throw new SchemaFault(`expected a type that is defined before, got ${name}`);
    return known;
  }

  #record(schema: Readonly<Record<string, unknown>>, namespace: string): AvroType {
    const fields: AvroField[] = [];
    let within = namespace;
    const record = this.#define(schema, namespace, ({ name, namespace: own }) => {
      within = own;
      return { kind: 'record', name, fields, doc: docOf(schema) };
    });
    // The record may be part of itself, so its name is known before its fields.
    for (const field of itemsOf(schema, 'fields')) {
      if (!isRecord(field) || typeof field['name'] !== 'string') {
        throw new SchemaFault(`expected fields with a name, got ${JSON.stringify(field)}`);
      }
      const { name } = field;
      if (name === '__proto__') throw new SchemaFault('expected no field __proto__, got one');
      fields.push({ name, type: this.read(field['type'], within), doc: docOf(field) });
    }
    return record;
  }

  #define(
    schema: Readonly<Record<string, unknown>>,
    enclosing: string,
    make: (named: { name: string; namespace: string }) => AvroType,
  ): AvroType {
    const { name: written, namespace: stated } = schema;
    if (typeof written !== 'string') throw new SchemaFault(`expected a name, got ${JSON.stringify(written)}`);
    const end = written.lastIndexOf('.');
    const namespace = end >= 0 ? written.slice(0, end) : typeof stated === 'string' ? stated : enclosing;
    const name = written.slice(end + 1);
    const type = make({ name, namespace });
    this.#names.set(namespace === '' ? name : `${namespace}.${name}`, type);
    return type;
  }
}

function primitiveOf(kind: AvroPrimitive['kind'], schema: Readonly<Record<string, unknown>>): AvroPrimitive {
  const { logicalType, scale, size, 'connect.name': connectName } = schema;
  const logical = typeof logicalType === 'string' ? logicalType : OF_CONNECT[String(connectName)];
  if (sizeOf(scale) > MAX_SCALE)
    throw new SchemaFault(`expected a scale of at most ${MAX_SCALE}, got ${sizeOf(scale)}`);
  return { kind, size: sizeOf(size), logical, scale: sizeOf(scale) };
}

function sizeOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0;
}

function docOf({ doc }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof doc === 'string' ? doc : undefined;
}

function itemsOf(schema: Readonly<Record<string, unknown>>, key: string): readonly unknown[] {
  const value = schema[key];
  if (!Array.isArray(value)) throw new SchemaFault(`expected ${key}, got ${JSON.stringify(value)}`);
  return value as unknown[];
}

function texts(schema: Readonly<Record<string, unknown>>, key: string): readonly string[] {
  return itemsOf(schema, key).map(String);
}
