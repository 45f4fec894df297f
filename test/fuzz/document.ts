import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import type { Random } from '../helpers/random.ts';
import { BOMBS } from './bombs.ts';

/** The payload of a `subscribe` message, or of a POST. */
export interface FuzzedRequest {
  readonly query: string;
  readonly variables: unknown;
  readonly operationName?: unknown;
}

const DEPTH = 5;

const INTROSPECTION = '{ __schema { types { name fields { name type { name ofType { name } } } } } }';

/** Makes documents from a schema's grammar: most are valid, and each kind of fault is in some. */
export class DocumentGrammar {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  /** The variables of the current operation. */
  #variables = new Map<string, { readonly type: string; readonly value: unknown }>();
  #fragments: string[] = [];

  constructor(schema: GraphQLSchema, random: Random) {
    this.#schema = schema;
    this.#random = random;
  }

  request(): FuzzedRequest {
    const random = this.#random;
    if (random.chance(0.05)) return { query: random.pick(BOMBS)(random), variables: {} };
    if (random.chance(0.02)) return { query: INTROSPECTION, variables: {} };
    this.#variables = new Map();
    this.#fragments = [];
    const operation = this.#operation();
    const query = [operation, ...this.#fragments].join('\n');
    return {
      query: random.chance(0.1) ? damaged(query, random) : query,
      variables: this.#values(),
      ...(random.chance(0.05) ? { operationName: random.pick(['A', 'Z', '', null, 7, {}]) } : {}),
    };
  }

  #operation(): string {
    const random = this.#random;
    const kind = random.chance(0.75) ? 'subscription' : 'query';
    const root = kind === 'subscription' ? this.#schema.getSubscriptionType() : this.#schema.getQueryType();
    if (!isObjectType(root)) throw new Error(`expected a schema with a ${kind} type`);
    // A subscription may have only one field: sometimes it gets more.
    const selections = this.#selections(root, DEPTH, kind === 'subscription' && !random.chance(0.03) ? 1 : 3);
    const declarations = [...this.#variables].map(([name, { type }]) => `$${name}: ${type}`);
    const head = declarations.length > 0 ? `(${declarations.join(', ')})` : '';
    const name = random.chance(0.5) ? ' A' : head === '' ? '' : ' Z';
    const second = random.chance(0.03) ? ` ${kind} A { __typename }` : '';
    return `${kind}${name}${head} ${selections}${second}`;
  }

  #selections(type: GraphQLObjectType, depth: number, most: number): string {
    const random = this.#random;
    const fields = Object.values(type.getFields());
    const chosen = Array.from({ length: random.between(1, most) }, () =>
      this.#selection(type, random.pick(fields), depth),
    );
    if (random.chance(0.1)) chosen.push('__typename');
    if (random.chance(0.02))
      chosen.push(random.pick(['unknown', 'constructor', '__proto__', 'bid_idd', 'é']));
    return `{ ${chosen.join(' ')} }`;
  }

  #selection(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>, depth: number): string {
    const random = this.#random;
    const alias = random.chance(0.15) ? `${random.pick(['a', 'b', 'constructor', '__proto__'])}: ` : '';
    const text = `${alias}${field.name}${this.#arguments(field.args)}${this.#directives()}${this.#below(field.type, depth)}`;
    if (random.chance(0.05)) return `... on ${type.name} { ${text} }`;
    if (random.chance(0.05)) return this.#spread(type, text);
    return text;
  }

  #below(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type);
    if (!isObjectType(named)) return this.#random.chance(0.01) ? ' { x }' : '';
    if (depth <= 0 || this.#random.chance(0.01)) return this.#random.chance(0.1) ? '' : ' { __typename }';
    return ` ${this.#selections(named, depth - 1, 4)}`;
  }

  /** Some fragments form a cycle. */
  #spread(type: GraphQLObjectType, text: string): string {
    const name = `F${this.#fragments.length}`;
    const circle = this.#random.chance(0.05) ? ` ...${name}` : '';
    this.#fragments.push(`fragment ${name} on ${type.name} { ${text}${circle} }`);
    return `...${name}`;
  }

  #directives(): string {
    const random = this.#random;
    if (!random.chance(0.05)) return '';
    const name = random.pick(['include', 'skip', 'unknown']);
    const times = random.chance(0.1) ? 40 : 1;
    return ` @${name}(if: ${random.pick(['true', 'false', '$no', '"x"'])})`.repeat(times);
  }

  #arguments(args: readonly GraphQLArgument[]): string {
    const random = this.#random;
    const given = args.filter((arg) => isNonNullType(arg.type) || random.chance(0.5));
    const texts = given.map((arg) => `${arg.name}: ${this.#argument(arg.type)}`);
    if (random.chance(0.01)) texts.push('unknown: 1');
    return texts.length > 0 ? `(${texts.join(', ')})` : '';
  }

  #argument(type: GraphQLInputType): string {
    const random = this.#random;
    const value = this.#value(type);
    if (random.chance(0.3)) return literal(value);
    const name = `v${this.#variables.size}`;
    this.#variables.set(name, { type: random.chance(0.02) ? 'Int' : String(type), value });
    return `$${name}`;
  }

  #value(type: GraphQLInputType): unknown {
    const random = this.#random;
    if (random.chance(0.04)) return this.#wrong();
    if (isNonNullType(type)) return this.#value(type.ofType);
    if (random.chance(0.1)) return null;
    if (isListType(type)) {
      const length = random.chance(0.02) ? 5_000 : random.between(0, 4);
      return Array.from({ length }, () => this.#value(type.ofType as GraphQLInputType));
    }
    if (isEnumType(type)) return random.pick(type.getValues()).name;
    if (isInputObjectType(type)) {
      return Object.fromEntries(
        Object.values(type.getFields()).map((field) => [field.name, this.#value(field.type)]),
      );
    }
    return type.name === 'Int' ? random.between(-5, 1_000) : String(random.between(1, 30));
  }

  #wrong(): unknown {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
    return this.#random.pick([
      '',
      'x'.repeat(20_000),
      1e308,
      -0,
      true,
      {},
      { __proto__: 1, constructor: 2 },
      deep(500),
      '\u0000\ud800',
      '12:34',
      '*',
    ]);
  }

  #values(): unknown {
    const random = this.#random;
    if (random.chance(0.02)) return random.pick([null, [], 'x', 7]);
    const own = Object.fromEntries([...this.#variables].map(([name, { value }]) => [name, value]));
    return random.chance(0.05) ? { ...own, undeclared: this.#wrong() } : own;
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, item]) => `${name}: ${literal(item)}`)
      .join(', ')}}`;
  }
  return typeof value === 'string' && /^[A-Z_]{3,}$/.test(value) ? value : JSON.stringify(value);
}

/** Removes, doubles or replaces some characters. */
function damaged(text: string, random: Random): string {
  const characters = [...text];
  for (let faults = random.between(1, 4); faults > 0; faults -= 1) {
    const at = random.between(0, characters.length - 1);
    const insert = random.pick([
      '',
      '{',
      '}',
      '$',
      '"',
      '"""',
      '\u0000',
      '😀',
      '#',
      '...',
      characters[at] ?? '',
    ]);
    characters.splice(at, random.between(0, 1), insert);
  }
  return characters.join('');
}
