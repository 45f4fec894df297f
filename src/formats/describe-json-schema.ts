import { isRecord } from '../support/kind-of.ts';
import { SchemaFault } from './schema-fault.ts';
import {
  scalarOf,
  typeNameOf,
  type Described,
  type DescribedField,
  type DescribedObject,
  type DescribedValue,
} from './described.ts';

type Schema = Readonly<Record<string, unknown>>;

/** More references than this in a row lead in a circle. */
const MAX_REFERENCES = 100;

/**
 * @param text a JSON Schema of an object
 * @param name of the object, if the schema has no title
 * @throws SchemaFault
 */
export function describeJsonSchema(text: string, name = 'Event'): DescribedValue {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (cause) {
    throw new SchemaFault('expected a JSON Schema, got no JSON', { cause });
  }
  if (!isRecord(schema)) throw new SchemaFault('expected a JSON Schema, got no object');
  return new Describer(schema).value(schema, name);
}

class Describer {
  readonly #root: Schema;
  readonly #objects = new Map<Schema, DescribedObject>();

  constructor(root: Schema) {
    this.#root = root;
  }

  value(written: unknown, name: string): DescribedValue {
    const schema = this.#resolved(written);
    const choices = [schema['anyOf'], schema['oneOf']].find((one) => Array.isArray(one)) as
      unknown[] | undefined;
    if (choices !== undefined) return this.#choice(choices, name);
    const types = [schema['type']].flat().filter((one) => typeof one === 'string');
    const kinds = types.filter((one) => one !== 'null');
    const isNullable = kinds.length < types.length;
    return { type: kinds.length > 1 ? scalarOf('JSON') : this.#type(schema, kinds[0], name), isNullable };
  }

  #choice(choices: readonly unknown[], name: string): DescribedValue {
    const schemas = choices.map((one) => this.#resolved(one));
    const others = schemas.filter(({ type }) => type !== 'null');
    const values = others.map((one, index) =>
      this.value(one, others.length === 1 ? name : `${name}${index + 1}`),
    );
    const isNullable = others.length < schemas.length || values.some((value) => value.isNullable);
    const [only] = values;
    // Nothing in JSON says which of several objects it is.
    return { type: values.length === 1 && only !== undefined ? only.type : scalarOf('JSON'), isNullable };
  }

  #type(schema: Schema, kind: unknown, name: string): Described {
    const { enum: values, items, properties, additionalProperties, title, format } = schema;
    if (Array.isArray(values) && values.every((one) => /^[_A-Za-z]\w*$/.test(String(one)))) {
      return {
        kind: 'enum',
        name: typeName(title, name),
        definition: schema,
        values: values.map(String),
        doc: docOf(schema),
      };
    }
    switch (kind) {
      case 'integer':
        return scalarOf(format === 'int32' ? 'Int' : 'Long');
      case 'number':
        return scalarOf('Float');
      case 'boolean':
        return scalarOf('Boolean');
      case 'string':
        return scalarOf('String');
      case 'array':
        return { kind: 'list', of: this.value(isRecord(items) ? items : {}, name) };
      case 'object':
      case undefined:
        if (isRecord(properties)) return this.#object(schema, properties, name);
        if (isRecord(additionalProperties))
          return { kind: 'map', of: this.value(additionalProperties, name) };
        return scalarOf('JSON');
      default:
        return scalarOf('JSON');
    }
  }

  #object(schema: Schema, properties: Schema, name: string): DescribedObject {
    const known = this.#objects.get(schema);
    if (known !== undefined) return known;
    const required = new Set([schema['required']].flat());
    const fields = (): DescribedField[] =>
      Object.entries(properties).map(([field, written]) => {
        const { type, isNullable } = this.value(written, typeName(undefined, field));
        const doc = docOf(this.#resolved(written));
        return { name: field, doc, type, isNullable: isNullable || !required.has(field) };
      });
    const object: DescribedObject = {
      kind: 'object',
      name: typeName(schema['title'], name),
      definition: schema,
      doc: docOf(schema),
      fields,
    };
    this.#objects.set(schema, object);
    return object;
  }

  /** Follows references within the schema. */
  #resolved(written: unknown): Schema {
    let schema = isRecord(written) ? written : {};
    for (let count = 0; typeof schema['$ref'] === 'string' && count < MAX_REFERENCES; count += 1) {
      const reference = schema['$ref'];
      if (!reference.startsWith('#')) return {};
      let found: unknown = this.#root;
      for (const step of reference.split('/').slice(1)) {
        const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
        found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
      }
      schema = isRecord(found) ? found : {};
    }
    return schema;
  }
}

function typeName(title: unknown, name: string): string {
  return typeNameOf(typeof title === 'string' ? title : name);
}

function docOf({ description }: Schema): string | undefined {
  return typeof description === 'string' ? description : undefined;
}
