import type { Described, DescribedEnum, DescribedObject, DescribedValue } from '../../formats/described.ts';
import type { Naming } from '../../formats/decoder.ts';

const NAME = /^[_A-Za-z]\w*$/;

/** Names of types that a schema has anyway. */
const TAKEN: readonly string[] = [
  'Query',
  'Mutation',
  'Subscription',
  'Int',
  'Float',
  'String',
  'Boolean',
  'ID',
  'Long',
  'Decimal',
  'JSON',
];

/** Scalars that a schema has to declare. */
const CUSTOM: ReadonlySet<string> = new Set(['Long', 'Decimal', 'JSON']);

interface WrittenEvent {
  readonly topic: string;
  /** Arguments of `@event` besides topic and key. */
  readonly arguments: string;
  readonly naming: Naming;
}

/** Writes a GraphQL schema with one subscription field, and the types of its events as their schema describes them. */
export function writeSchema(event: DescribedObject, options: WrittenEvent): string {
  return new SchemaWriter(options).write(event);
}

class SchemaWriter {
  readonly #options: WrittenEvent;
  /** Names of types, by their definition. */
  readonly #names = new Map<object, string>();
  readonly #taken = new Set(TAKEN);
  readonly #scalars = new Set<string>();
  readonly #types: string[] = [];

  constructor(options: WrittenEvent) {
    this.#options = options;
  }

  write(event: DescribedObject): string {
    const { topic, arguments: more, naming } = this.#options;
    const type = this.#objectName(event);
    const keys = event.fields().filter((field) => isId(naming(field.name)) && field.type.kind === 'scalar');
    const key =
      keys.find(({ name }) => naming(name) === 'id' || naming(name) === `${naming(type)}_id`) ?? keys[0];
    const name = key && naming(key.name);
    const picked = name === undefined ? '' : `(${name}: [ID!]!)`;
    const by = name === undefined ? '' : `, key: "${name}"`;
    const field = `  ${naming(type)}_changed${picked}: ${type} @event(topic: "${topic}"${by}${more})`;
    const scalars = [...this.#scalars].toSorted().map((scalar) => `scalar ${scalar}\n`);
    return [`type Subscription {\n${field}\n}\n`, ...this.#types, scalars.join('')]
      .filter((part) => part !== '')
      .join('\n');
  }

  #objectName(object: DescribedObject): string {
    const known = this.#names.get(object.definition);
    if (known !== undefined) return known;
    const name = this.#newName(object);
    // Its place is before the types that it uses.
    const place = this.#types.push('') - 1;
    const lines = object.fields().map(({ name: written, doc, ...value }) => {
      const field = this.#options.naming(written);
      if (!NAME.test(field) || field.startsWith('__')) return `  # ${written}: no name in GraphQL`;
      const isKey = isId(field) && value.type.kind === 'scalar';
      const text = isKey
        ? `ID${value.isNullable ? '' : '!'}`
        : this.#value(value, `${name}${capital(written)}`);
      return `${documented(doc, '  ')}  ${field}: ${text}`;
    });
    // A type needs a field.
    const body = lines.some((line) => !line.startsWith('  #')) ? lines : [...lines, '  _: Boolean'];
    this.#types[place] = `${documented(object.doc, '')}type ${name} {\n${body.join('\n')}\n}\n`;
    return name;
  }

  /** @param name for a type that is made for it */
  #value({ type, isNullable }: DescribedValue, name: string): string {
    return `${this.#type(type, name)}${isNullable ? '' : '!'}`;
  }

  #type(type: Described, name: string): string {
    switch (type.kind) {
      case 'object':
        return this.#objectName(type);
      case 'enum':
        return this.#enumName(type);
      case 'list':
        return `[${this.#value(type.of, name)}]`;
      case 'map':
        return `[${this.#entryName(type.of, name)}!]`;
      case 'union': {
        const members = type.members.map((member) => this.#objectName(member));
        const union = this.#free(name);
        this.#types.push(`union ${union} = ${members.join(' | ')}\n`);
        return union;
      }
      case 'scalar':
        if (CUSTOM.has(type.name)) this.#scalars.add(type.name);
        return type.name;
    }
  }

  #enumName(type: DescribedEnum): string {
    const known = this.#names.get(type.definition);
    if (known !== undefined) return known;
    if (!type.values.every((value) => NAME.test(value) && !['true', 'false', 'null'].includes(value)))
      return 'String';
    const name = this.#newName(type);
    const values = type.values.map((value) => `  ${value}\n`).join('');
    this.#types.push(`${documented(type.doc, '')}enum ${name} {\n${values}}\n`);
    return name;
  }

  #entryName(value: DescribedValue, name: string): string {
    const entry = this.#free(`${name}Entry`);
    const place = this.#types.push('') - 1;
    this.#types[place] =
      `type ${entry} {\n  key: String!\n  value: ${this.#value(value, `${name}Value`)}\n}\n`;
    return entry;
  }

  #newName({ name, definition }: DescribedObject | DescribedEnum): string {
    const free = this.#free(name);
    this.#names.set(definition, free);
    return free;
  }

  #free(wanted: string): string {
    const name =
      NAME.test(wanted) && !wanted.startsWith('__') ? wanted : `Type${wanted.replaceAll(/\W/g, '')}`;
    let free = name;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${name}${number}`;
    this.#taken.add(free);
    return free;
  }
}

function isId(name: string): boolean {
  return /(?:^|_)id$/.test(name);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replaceAll(/\W/g, '');
}

function documented(doc: string | undefined, indent: string): string {
  const text = doc?.trim().replaceAll('"""', "'''");
  if (text === undefined || text === '') return '';
  const lines = text.split('\n').map((line) => indent + line.trim());
  return `${indent}"""\n${lines.join('\n')}\n${indent}"""\n`;
}
