import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { Random } from '../../helpers/random.ts';

/** Chooses among `count` possibilities: 0 ≤ result < count. */
type Choose = (count: number) => number;

export function seeded(seed: number): Choose {
  const random = new Random(seed);
  return (count) => random.between(0, count - 1);
}

const DEPTH = 4;
const CONDITIONS = [
  '@skip(if: $a)',
  '@include(if: $a)',
  '@skip(if: $b)',
  '@include(if: $b)',
  '@include(if: true)',
];

interface RandomOptions {
  /** Variables that are declared beside `$a` and `$b`: `$n: Int`. */
  readonly variables?: string;
  /** Arguments with which a field may be selected, and selections of `Event` that use all declared variables. */
  readonly argumentsOf?: (field: GraphQLField<unknown, unknown>) => readonly string[];
  readonly using?: string;
  /** @default CONDITIONS */
  readonly conditions?: readonly string[];
}

/** Writes subscriptions to `event` at random: aliases, fragments of both kinds, conditions on `$a` and `$b`. */
export class RandomDocuments {
  readonly #schema: GraphQLSchema;
  readonly #choose: Choose;
  readonly #usable: (field: GraphQLField<unknown, unknown>) => boolean;
  readonly #options: RandomOptions;
  #fragments: string[] = [];

  constructor(
    schema: GraphQLSchema,
    choose: Choose,
    usable: (field: GraphQLField<unknown, unknown>) => boolean,
    options: RandomOptions = {},
  ) {
    this.#options = options;
    this.#schema = schema;
    this.#choose = choose;
    this.#usable = usable;
  }

  next(): string {
    this.#fragments = [];
    const type = this.#schema.getType('Event');
    if (!isCompositeType(type)) throw new TypeError('expected a type Event');
    const below = this.#selectionSet(type, DEPTH);
    const { variables = '', using = '' } = this.#options;
    const used = `{ event { used: __typename @skip(if: $a) @include(if: $b) ${using} ...U } }`;
    return [
      `subscription R($a: Boolean!, $b: Boolean! ${variables}) ${used}`,
      `fragment U on Event ${below}`,
      ...this.#fragments,
    ].join('\n');
  }

  #selectionSet(type: GraphQLCompositeType, depth: number): string {
    const selections = ['__typename'];
    for (let left = 1 + this.#choose(5); left > 0; left--) selections.push(this.#selection(type, depth));
    return `{ ${selections.join(' ')} }`;
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    const kind = this.#choose(8);
    if (depth > 0 && kind === 0)
      return `... ${this.#on(type)} ${this.#condition()}${this.#narrowed(type, depth)}`;
    if (depth > 0 && kind === 1) {
      const name = `F${this.#fragments.length}`;
      const index = this.#fragments.push('') - 1;
      this.#fragments[index] = `fragment ${name} on ${type.name} ${this.#selectionSet(type, depth - 1)}`;
      return `...${name} ${this.#condition()}...${name} ${this.#condition()}`;
    }
    return this.#field(type, depth);
  }

  #on(type: GraphQLCompositeType): string {
    return this.#choose(2) === 0 ? '' : `on ${type.name}`;
  }

  /** A selection set, or one in a fragment on a type that it might be. */
  #narrowed(type: GraphQLCompositeType, depth: number): string {
    if (!isAbstractType(type)) return this.#selectionSet(type, depth - 1);
    const types = this.#schema.getPossibleTypes(type);
    const possible = types[this.#choose(types.length)];
    if (possible === undefined) throw new TypeError(`expected a type that is a ${type.name}`);
    return `{ ... on ${possible.name} ${this.#condition()}${this.#selectionSet(possible, depth - 1)} }`;
  }

  #field(type: GraphQLCompositeType, depth: number): string {
    const fields = 'getFields' in type ? Object.values(type.getFields()).filter(this.#usable) : [];
    const leaves = fields.filter((item) => !isCompositeType(getNamedType(item.type)));
    const choices = depth > 0 ? fields : leaves;
    const field = choices[this.#choose(Math.max(1, choices.length))];
    if (field === undefined) return `__typename ${this.#condition()}`;
    const named = getNamedType(field.type);
    const given = this.#options.argumentsOf?.(field) ?? [];
    const choice = this.#choose(given.length + 1);
    // One alias always stands for one field with the same arguments, so that selections can be merged.
    const alias = choice > 0 ? `_${choice}${field.name}: ` : this.#choose(3) === 0 ? `x_${field.name}: ` : '';
    const below = isCompositeType(named) ? this.#selectionSet(named, depth - 1) : '';
    return `${alias}${field.name}${given[choice - 1] ?? ''} ${this.#condition()}${below}`;
  }

  #condition(): string {
    const { conditions = CONDITIONS } = this.#options;
    return this.#choose(4) === 0 ? `${conditions[this.#choose(conditions.length)] ?? ''} ` : '';
  }
}
