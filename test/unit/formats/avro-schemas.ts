import avsc, { type Schema, type Type } from 'avsc';
import type { Random } from '../../helpers/random.ts';

/** A random schema of Avro, named types and recursion included. */
export class RandomSchemas {
  readonly #random: Random;
  readonly #records: string[] = [];
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  record(depth: number): Schema & { fields: { name: string; type: Schema }[] } {
    const name = this.#name('Record');
    this.#records.push(name);
    const count = this.#random.between(1, 6);
    const fields = Array.from({ length: count }, (_, index) => ({
      name: `${this.#random.pick(['id', 'createdAt', 'customerID', 'x_y', 'a'])}${index}`,
      type: this.#type(depth - 1),
    }));
    if (this.#random.chance(0.2)) fields.push({ name: 'below', type: ['null', name] as never });
    this.#records.pop();
    return { type: 'record', name, fields } as never;
  }

  #type(depth: number): Schema {
    const simple = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const;
    if (depth <= 0) return this.#random.pick(simple);
    switch (this.#random.between(0, 8)) {
      case 0:
        return this.record(depth);
      case 1:
        return { type: 'array', items: this.#type(depth - 1) } as never;
      case 2:
        return { type: 'map', values: this.#type(depth - 1) } as never;
      case 3:
        return { type: 'enum', name: this.#name('Enum'), symbols: ['A', 'B_C', 'd'] } as never;
      case 4:
        return { type: 'fixed', name: this.#name('Fixed'), size: this.#random.between(1, 9) } as never;
      case 5:
        return ['null', this.#random.pick(['string', 'long', 'double'])] as never;
      case 6:
        return ['null', this.record(depth), this.record(depth)] as never;
      default:
        return this.#random.pick(simple);
    }
  }

  #name(kind: string): string {
    this.#names += 1;
    return `${kind}${this.#names}`;
  }
}

/** avsc's type for a schema: unions as objects with the name of their branch, so that any union can be. */
export function avscType(schema: Schema): Type {
  return avsc.Type.forSchema(schema, { wrapUnions: true });
}

/** What Sluice makes of a value that avsc has decoded, by the table of types in the guide. */
export function expectedOf(
  value: unknown,
  schema: unknown,
  named: Map<string, Record<string, unknown>>,
): unknown {
  if (typeof schema === 'string' && named.has(schema)) return expectedOf(value, named.get(schema), named);
  if (Array.isArray(schema)) return expectedOfUnion(value, schema, named);
  const { type, name } = (typeof schema === 'object' && schema !== null ? schema : {}) as Record<
    string,
    unknown
  >;
  if (typeof name === 'string') named.set(name, schema as Record<string, unknown>);
  switch (type ?? schema) {
    case 'record': {
      const { fields } = schema as { fields: { name: string; type: unknown }[] };
      const entries = fields.map((field) => [
        field.name,
        expectedOf((value as Record<string, unknown>)[field.name], field.type, named),
      ]);
      return Object.fromEntries(entries);
    }
    case 'array':
      return (value as unknown[]).map((item) =>
        expectedOf(item, (schema as { items: unknown }).items, named),
      );
    case 'map': {
      const { values } = schema as { values: unknown };
      const entries = Object.entries(value as object).map(([key, item]) => [
        key,
        expectedOf(item, values, named),
      ]);
      return Object.fromEntries(entries);
    }
    case 'bytes':
    case 'fixed':
      return (value as Buffer).toString('base64');
    case 'float':
    case 'double':
      return Number.isFinite(value) ? value : String(value);
    default:
      return value;
  }
}

function expectedOfUnion(
  value: unknown,
  schemas: readonly unknown[],
  named: Map<string, Record<string, unknown>>,
): unknown {
  for (const one of schemas) if (isNamed(one)) named.set(one.name, one);
  if (value === null) return null;
  const [[branch, held] = ['', undefined]] = Object.entries(value as object) as [string, unknown][];
  const schema = schemas.find((one) => nameOf(one) === branch);
  const expected = expectedOf(held, schema, named);
  const records = schemas.filter((one) => isNamed(one) || named.has(String(one)));
  return records.length < 2 ? expected : { __typename: branch, ...(expected as object) };
}

function isNamed(schema: unknown): schema is { name: string } & Record<string, unknown> {
  return typeof schema === 'object' && schema !== null && 'name' in schema;
}

function nameOf(schema: unknown): unknown {
  return isNamed(schema) ? schema.name : schema;
}

/** A random value of a schema, as avsc takes it. Values of records within themselves end after some levels. */
export function randomValue(
  schema: unknown,
  random: Random,
  named: Map<string, unknown> = new Map(),
  depth = 0,
): unknown {
  const of = (inner: unknown): unknown => randomValue(inner, random, named, depth + 1);
  if (Array.isArray(schema)) {
    for (const one of schema as unknown[]) if (isNamed(one)) named.set(one.name, one);
    const branch: unknown = depth > 8 ? 'null' : random.pick(schema as unknown[]);
    return branch === 'null' ? null : { [String(nameOf(branch))]: of(branch) };
  }
  if (typeof schema === 'string' && named.has(schema)) return of(named.get(schema));
  const { type, name } = (typeof schema === 'object' ? schema : {}) as Record<string, unknown>;
  if (typeof name === 'string') named.set(name, schema);
  switch (type ?? schema) {
    case 'record': {
      const { fields } = schema as { fields: { name: string; type: unknown }[] };
      return Object.fromEntries(fields.map((field) => [field.name, of(field.type)]));
    }
    case 'array':
      return Array.from({ length: random.between(0, 3) }, () => of((schema as { items: unknown }).items));
    case 'map': {
      const keys = ['', 'a', 'ü', 'x y'].slice(0, random.between(0, 4));
      return Object.fromEntries(keys.map((key) => [key, of((schema as { values: unknown }).values)]));
    }
    case 'enum':
      return random.pick((schema as { symbols: string[] }).symbols);
    case 'fixed':
      return Buffer.alloc((schema as { size: number }).size, random.between(0, 255));
    case 'boolean':
      return random.chance(0.5);
    case 'int':
      return random.pick([0, -1, 63, 64, -65, 2 ** 31 - 1, -(2 ** 31)]);
    case 'long':
      return random.pick([0, -1, 2 ** 31, -(2 ** 35), 2 ** 49 + 7, 2 ** 52 - 1, -(2 ** 52) + 1]);
    case 'float':
      return random.pick([0, -1.5, 1_024, NaN, -Infinity]);
    case 'double':
      return random.pick([0, 0.1, -1e300, 5e-324, NaN, Infinity]);
    case 'bytes':
      return Buffer.alloc(random.between(0, 5), random.between(0, 255));
    case 'string':
      return random.pick(['', 'a', 'ü€😀', 'short ASCII', 'x'.repeat(300), 'ü'.repeat(20)]);
    default:
      return null;
  }
}
