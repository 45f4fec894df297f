import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Fragments } from '../fragments.ts';
import type { IntrospectionLists } from './introspection-lists.ts';
import {
  isList,
  itemsOf,
  type FieldWeight,
  type ListSize,
  type NumberArgument,
  type Weights,
} from './weights.ts';

/** The size of a selection set, with all fragments expanded. Numbers are capped at the largest safe integer. */
export interface Size {
  /** Fields at its own level. */
  readonly width: number;
  readonly fields: number;
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Weighted by @cost and @listSize; introspection excluded. */
  readonly cost: number;
  /** Values that introspection returns, estimated. */
  readonly introspection: number;
}

/** Fields of an object that are lists: the object's own field gives their size, as in `bids(first: 10) { edges }`. */
interface SizedFields {
  readonly names: readonly string[];
  readonly list: SizedList;
}

/** A list with a length limit that the client sets. */
export interface SizedList {
  /** The field with `@listSize`. */
  readonly field: string;
  /** The arguments that set it. */
  readonly slicing: readonly string[];
  readonly items: number;
}

type Field = GraphQLField<unknown, unknown>;
type Type = GraphQLNamedType | null | undefined;

const NOTHING: Size = { width: 0, fields: 0, depth: 0, aliases: 0, directives: 0, cost: 0, introspection: 0 };

const most = (value: number): number => Math.min(value, Number.MAX_SAFE_INTEGER);

function sum(one: Size, other: Size): Size {
  return {
    width: most(one.width + other.width),
    fields: most(one.fields + other.fields),
    depth: Math.max(one.depth, other.depth),
    aliases: most(one.aliases + other.aliases),
    directives: most(one.directives + other.directives),
    cost: most(one.cost + other.cost),
    introspection: most(one.introspection + other.introspection),
  };
}

/**
 * The sizes of the selection sets of one operation. A fragment that is spread many times is counted once for each size that
 * `sizedFields` gives to a list around it: the time depends on the document's length, not on its expanded size. The
 * document may be invalid, but must have no circles of fragments.
 */
export class Sizes {
  readonly #schema: GraphQLSchema;
  readonly #weights: Weights;
  readonly #lists: IntrospectionLists;
  readonly #fragments: Fragments;
  readonly #valueOf: NumberArgument;
  /** By fragment. */
  readonly #known = new Map<string, Size>();
  /** By the names of the lists and their size, then by fragment. */
  readonly #knownSized = new Map<string, Map<string, Size>>();
  #unbounded: SizedList | undefined;

  constructor(
    schema: GraphQLSchema,
    weights: Weights,
    lists: IntrospectionLists,
    fragments: Fragments,
    valueOf: NumberArgument,
  ) {
    this.#schema = schema;
    this.#weights = weights;
    this.#lists = lists;
    this.#fragments = fragments;
    this.#valueOf = valueOf;
  }

  /** A list without bound that has been counted. */
  get unbounded(): SizedList | undefined {
    return this.#unbounded;
  }

  of({ selections }: SelectionSetNode, type: Type): Size {
    return this.#selections(selections, type, undefined, this.#known);
  }

  /** @param known sizes of fragments within these sized fields */
  #selections(
    selections: readonly SelectionNode[],
    type: Type,
    sized: SizedFields | undefined,
    known: Map<string, Size>,
  ): Size {
    let total = NOTHING;
    for (const selection of selections) {
      total = sum(total, this.#selection(selection, type, sized, known));
      const directives = selection.directives?.length ?? 0;
      if (directives > 0) total = sum(total, { ...NOTHING, directives });
    }
    return total;
  }

  #selection(
    selection: SelectionNode,
    type: Type,
    sized: SizedFields | undefined,
    known: Map<string, Size>,
  ): Size {
    if (selection.kind === Kind.FIELD) return this.#field(selection, type, sized);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition;
      const narrowed = condition === undefined ? type : this.#schema.getType(condition.name.value);
      return this.#selections(selection.selectionSet.selections, narrowed, sized, known);
    }
    const name = selection.name.value;
    const fragment = this.#fragments[name];
    if (fragment === undefined) return NOTHING;
    let size = known.get(name);
    if (size === undefined) {
      const narrowed = this.#schema.getType(fragment.typeCondition.name.value);
      size = this.#selections(fragment.selectionSet.selections, narrowed, sized, known);
      known.set(name, size);
    }
    return size;
  }

  #field(node: FieldNode, type: Type, sized: SizedFields | undefined): Size {
    const name = node.name.value;
    const field = fieldOf(type, name);
    const weight = field && this.#weights.of(field);
    const own = field && weight?.list && this.#sizedList(weight.list, field, node);
    const below = this.#below(node, field, own && { names: weight?.list?.sizedFields ?? [], list: own });
    let list: SizedList | undefined;
    if (field !== undefined && isList(field)) {
      if (sized?.names.includes(name)) list = sized.list;
      else if (weight?.list?.sizedFields.length === 0) list = own;
    }
    const introspects = type != null && isIntrospectionType(type);
    const introspected = introspects && field !== undefined ? this.#lists.items(type.name, name) : 1;
    const inside = introspects || field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
    let cost = 0;
    if (weight !== undefined && !inside) {
      cost = weight.call + this.#costOfItems(list, weight, below);
      for (const { name: argument } of node.arguments ?? []) {
        cost += weight.arguments.get(argument.value) ?? 0;
      }
    }
    return {
      width: 1,
      fields: most(1 + below.fields),
      depth: 1 + below.depth,
      aliases: most((node.alias === undefined ? 0 : 1) + below.aliases),
      directives: below.directives,
      // A weight may be negative, as the specification says, but no field makes others cheaper.
      cost: most(Math.max(0, cost)),
      introspection: most(inside ? 1 + introspected * below.introspection : below.introspection),
    };
  }

  #sizedList(list: ListSize, field: Field, node: FieldNode): SizedList {
    const items = itemsOf(list, field, node, this.#valueOf);
    return { field: field.name, slicing: list.slicing, items };
  }

  #costOfItems(list: SizedList | undefined, weight: FieldWeight, below: Size): number {
    if (list === undefined) return weight.item + below.cost;
    const each = weight.sizedItem + below.cost;
    // ∞ × 0 is NaN.
    if (each === 0) return 0;
    if (each > 0 && list.items === Infinity) this.#unbounded ??= list;
    return list.items * each;
  }

  #below({ selectionSet }: FieldNode, field: Field | undefined, sized: SizedFields | undefined): Size {
    if (selectionSet === undefined) return NOTHING;
    const type = field && getNamedType(field.type);
    if (sized === undefined || sized.names.length === 0) {
      return this.#selections(selectionSet.selections, type, undefined, this.#known);
    }
    const key = `${sized.list.items} ${sized.names.join(' ')}`;
    const known = this.#knownSized.get(key) ?? new Map<string, Size>();
    this.#knownSized.set(key, known);
    return this.#selections(selectionSet.selections, type, sized, known);
  }
}

/** Undefined for a field that does not exist, which validation reports. */
function fieldOf(type: Type, name: string): Field | undefined {
  if (type == null || !isCompositeType(type)) return undefined;
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}
