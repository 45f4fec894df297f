import {
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  Kind,
  type ConstDirectiveNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { listsOf } from '../jit-schema.ts';
import type { Variables } from '../variables.ts';

/** Value of an argument that is a number; undefined if it is not given, or is not a number. */
export type NumberArgument = (node: FieldNode, name: string) => number | undefined;

interface Annotated {
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
}

/** What `@listSize` says of a field. */
export interface ListSize {
  readonly assumed: number | undefined;
  /** Arguments that limit the number of the list's items. */
  readonly slicing: readonly string[];
  /** The client must give one of them. */
  readonly requireOne: boolean;
  /** Fields of the returned object that are the lists, such as `edges` of a connection. */
  readonly sizedFields: readonly string[];
}

/** What one field costs, apart from what is selected below it. */
export interface FieldWeight {
  /** The weight of calling its resolver. */
  readonly call: number;
  readonly arguments: ReadonlyMap<string, number>;
  /** The weight of each object that it returns. */
  readonly item: number;
  /** The weight of each object of a list that has a size. */
  readonly sizedItem: number;
  readonly list: ListSize | undefined;
}

type Field = GraphQLField<unknown, unknown>;

/**
 * The weights of a schema's fields, by `@cost` and `@listSize` of the GraphQL cost directives specification. A field that
 * returns objects weighs 1, a field that returns a scalar 0. Each item of a list with a size weighs the same as such a
 * field; a list without `@listSize` counts as one item, included in its field's weight. A field of an interface or union
 * costs as much as with the heaviest of its types.
 */
export class Weights {
  /** Some field has an argument that limits the number of its list's items. */
  readonly haveSlices: boolean;
  readonly #schema: GraphQLSchema;
  readonly #known = new WeakMap<Field, FieldWeight>();
  /** For a field of an interface, the fields of the types that implement it. */
  readonly #implementing = new Map<Field, readonly Field[]>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    for (const type of Object.values(schema.getTypeMap()).filter((each) => isInterfaceType(each))) {
      for (const [name, field] of Object.entries(type.getFields())) {
        const fields = schema.getPossibleTypes(type).map((possible) => possible.getFields()[name]);
        this.#implementing.set(
          field,
          fields.filter((each) => each !== undefined),
        );
      }
    }
    this.haveSlices = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) || isInterfaceType(type))
      .some((type) =>
        Object.values(type.getFields()).some((field) => (this.of(field).list?.slicing.length ?? 0) > 0),
      );
  }

  of(field: Field): FieldWeight {
    let weight = this.#known.get(field);
    if (weight === undefined) this.#known.set(field, (weight = this.#read(field)));
    return weight;
  }

  #read(field: Field): FieldWeight {
    const implementing = this.#implementing.get(field) ?? [];
    return implementing.map((each) => this.of(each)).reduce(heavier, this.#own(field));
  }

  #own(field: Field): FieldWeight {
    const type: GraphQLNamedType = getNamedType(field.type);
    const types = isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type];
    const weighed = field.args.flatMap((argument): [string, number][] => {
      const weight = this.#cost(argument);
      return weight === undefined ? [] : [[argument.name, weight]];
    });
    const standard = isLeafType(type) ? 0 : 1;
    const item = (otherwise: number): number =>
      types.length === 0 ? 0 : Math.max(...types.map((each) => this.#cost(each) ?? otherwise));
    return {
      call: this.#cost(field) ?? standard,
      arguments: new Map(weighed),
      item: item(0),
      sizedItem: item(standard),
      list: this.#listSize(field),
    };
  }

  #cost(annotated: Annotated): number | undefined {
    const weight = Number(this.#arguments('cost', annotated)?.['weight']);
    return Number.isFinite(weight) ? weight : undefined;
  }

  #listSize(field: Field): ListSize | undefined {
    const given = this.#arguments('listSize', field);
    if (given === undefined) return undefined;
    const { assumedSize, requireOneSlicingArgument } = given;
    const slicing = names(given['slicingArguments']);
    return {
      assumed: typeof assumedSize === 'number' ? assumedSize : undefined,
      slicing,
      requireOne: slicing.length > 0 && requireOneSlicingArgument !== false,
      sizedFields: names(given['sizedFields']),
    };
  }

  #arguments(name: string, { astNode }: Annotated): Record<string, unknown> | undefined {
    const directive = this.#schema.getDirective(name);
    if (directive == null || astNode == null) return undefined;
    return getDirectiveValues(directive, astNode as { directives?: readonly ConstDirectiveNode[] });
  }
}

function heavier(one: FieldWeight, other: FieldWeight): FieldWeight {
  const weights = [...one.arguments, ...other.arguments];
  return {
    call: Math.max(one.call, other.call),
    arguments: new Map(weights.toSorted(([, weight], [, next]) => weight - next)),
    item: Math.max(one.item, other.item),
    sizedItem: Math.max(one.sizedItem, other.sizedItem),
    list: one.list && other.list ? larger(one.list, other.list) : (one.list ?? other.list),
  };
}

function larger(one: ListSize, other: ListSize): ListSize {
  const assumed = [one.assumed, other.assumed].filter((size) => size !== undefined);
  return {
    assumed: assumed.length === 0 ? undefined : Math.max(...assumed),
    slicing: [...new Set([...one.slicing, ...other.slicing])],
    requireOne: one.requireOne || other.requireOne,
    sizedFields: [...new Set([...one.sizedFields, ...other.sizedFields])],
  };
}

/** How many items a list may have; Infinity only if it has neither a size nor the argument that it requires. */
export function itemsOf(list: ListSize, field: Field, node: FieldNode, valueOf: NumberArgument): number {
  const sizes = list.slicing.flatMap((name) => valueOf(node, name) ?? defaultOf(field, name) ?? []);
  // A back end may interpret zero, or less, as all items.
  if (sizes.length > 0) return Math.min(Math.max(1, ...sizes), Number.MAX_SAFE_INTEGER);
  return list.assumed ?? (list.requireOne ? Infinity : 1);
}

/** @returns whether a field is a list, of any depth */
export const isList = ({ type }: Field): boolean => listsOf(type) > 0;

function defaultOf({ args }: Field, name: string): number | undefined {
  const value = args.find((argument) => argument.name === name)?.defaultValue;
  return typeof value === 'number' ? value : undefined;
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Reads arguments of one operation. Its variables may be known or not. */
export function numberArguments(
  variables: Variables | undefined,
  defaults: ReadonlyMap<string, number>,
): NumberArgument {
  return (node, name) => {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind !== Kind.VARIABLE) return undefined;
    const variable = value.name.value;
    // While the variables are unknown, the list counts as one item: a document must not be refused for one client's values.
    if (variables === undefined) return 1;
    const given = Object.hasOwn(variables, variable) ? variables[variable] : defaults.get(variable);
    return typeof given === 'number' ? given : undefined;
  };
}
