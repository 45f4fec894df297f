import { getNamedType, isLeafType, type GraphQLNamedOutputType, type GraphQLSchema } from 'graphql';
import type { LeafKind, Shape } from '../../formats/shape.ts';
import { holdsDigits } from './digits.ts';
import type { EnvelopeName, FieldSource } from '../graph.ts';
import { fieldsOf, isList } from '../event-type.ts';

const KINDS: Readonly<Record<string, LeafKind>> = {
  Int: 'number',
  Float: 'number',
  ID: 'text',
  String: 'text',
};

/** Which kind of field wins where several fields of the same topic show a value. */
const ORDER: readonly LeafKind[] = ['other', 'number', 'text', 'digits'];

/**
 * The shape of a topic's events, of the types of all fields that show them.
 *
 * @returns undefined if the schema says nothing of them
 */
export function eventShape(
  schema: GraphQLSchema,
  types: readonly (GraphQLNamedOutputType | undefined)[],
): Shape | undefined {
  const known = [...new Set(types)].filter((type) => type !== undefined && !isLeafType(type));
  return known.length === 0 ? undefined : new Shapes(schema).of(known as GraphQLNamedOutputType[], false);
}

/** One shape for each combination of types, as types may hold themselves. */
class Shapes {
  readonly schema: GraphQLSchema;
  readonly #shapes = new Map<string, ObjectShape>();

  constructor(schema: GraphQLSchema) {
    this.schema = schema;
  }

  of(types: readonly GraphQLNamedOutputType[], isOfList: boolean): ObjectShape {
    const key = `${types.map(({ name }) => name).join('|')} ${isOfList}`;
    let shape = this.#shapes.get(key);
    if (shape === undefined) this.#shapes.set(key, (shape = new ObjectShape(this, types, isOfList)));
    return shape;
  }
}

/** A value whose fields are those of one of these types. */
class ObjectShape implements Shape {
  readonly leaf = undefined;
  readonly takesNumbers = false;
  readonly isList: boolean;
  readonly #shapes: Shapes;
  readonly #types: readonly GraphQLNamedOutputType[];
  readonly #fields = new Map<string, Shape | undefined>();

  constructor(shapes: Shapes, types: readonly GraphQLNamedOutputType[], isOfList: boolean) {
    this.#shapes = shapes;
    this.#types = types;
    this.isList = isOfList;
  }

  field(name: string): Shape | undefined {
    if (!this.#fields.has(name)) this.#fields.set(name, this.#shapeOf(name));
    return this.#fields.get(name);
  }

  #shapeOf(name: string): Shape | undefined {
    const fields = this.#types
      .flatMap((type) => fieldsOf(this.#shapes.schema, type))
      .filter((one) => one.name === name);
    const types = [...new Set(fields.map(({ type }) => getNamedType(type)))];
    const inList = fields.some(({ type }) => isList(type));
    const objects = types.filter((type) => !isLeafType(type));
    if (objects.length > 0) return this.#shapes.of(objects, inList);
    const kinds = types.map((type) => (holdsDigits(type) ? 'digits' : (KINDS[type.name] ?? 'other')));
    const leaf = kinds.toSorted((one, other) => ORDER.indexOf(other) - ORDER.indexOf(one))[0];
    const takesNumbers = kinds.includes('number') || kinds.includes('digits');
    return leaf && { leaf, takesNumbers, isList: inList, field: () => undefined };
  }
}

/** Where in a message a value of some shape is. */
interface Placed {
  readonly path: readonly string[];
  readonly shape: Shape | undefined;
}

/**
 * The shape of whole messages: of events, with their envelope around them, and of values that fields name by a path.
 *
 * @param shape of the events
 * @param from where fields come from, by name
 */
export function messageShape(
  shape: Shape | undefined,
  envelope: EnvelopeName,
  from: ReadonlyMap<string, FieldSource>,
): Shape | undefined {
  const named = [...from].flatMap(([name, source]): Placed[] =>
    source.kind === 'path' ? [{ path: source.path.split('.'), shape: shape?.field(name) }] : [],
  );
  if (envelope === 'NONE') return named.length === 0 ? shape : new PlacedShape(shape, named);
  if (envelope === 'CLOUDEVENTS') {
    // In binary mode the data is the whole value.
    return new PlacedShape(shape, [...named, { path: ['data'], shape }]);
  }
  const rows = ['before', 'after'].map((name) => ({ path: [name], shape }));
  // JSON with its schema has the change as its payload.
  const all = [[], ['payload']].flatMap((above: readonly string[]) =>
    [...rows, ...named].map((placed) => ({ ...placed, path: [...above, ...placed.path] })),
  );
  return new PlacedShape(undefined, all);
}

/** A shape, and other ones at some places in it. */
class PlacedShape implements Shape {
  readonly leaf: Shape['leaf'];
  readonly takesNumbers: boolean;
  readonly isList: boolean;
  readonly #base: Shape | undefined;
  readonly #placed: readonly Placed[];
  readonly #fields = new Map<string, Shape | undefined>();

  constructor(base: Shape | undefined, placed: readonly Placed[]) {
    this.leaf = base?.leaf;
    this.takesNumbers = base?.takesNumbers ?? false;
    this.isList = base?.isList ?? false;
    this.#base = base;
    this.#placed = placed;
  }

  field(name: string): Shape | undefined {
    if (!this.#fields.has(name)) this.#fields.set(name, this.#shapeOf(name));
    return this.#fields.get(name);
  }

  #shapeOf(name: string): Shape | undefined {
    const within = this.#placed
      .filter(({ path: [first] }) => first === name)
      .map(({ path, shape }) => ({ path: path.slice(1), shape }));
    const own = within.filter(({ path }) => path.length === 0).map(({ shape }) => shape);
    const here = [...own, this.#base?.field(name)].reduce(merged);
    const below = within.filter(({ path }) => path.length > 0);
    return below.length === 0 ? here : new PlacedShape(here, below);
  }
}

/** Of several fields that show a value, the one for which all digits count decides. It may also be an object elsewhere. */
function merged(one: Shape | undefined, other: Shape | undefined): Shape | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.leaf === undefined)
    return other.leaf === undefined ? one : { ...leafOf(other), field: (name) => one.field(name) };
  if (other.leaf === undefined) return merged(other, one);
  const wins = ORDER.indexOf(one.leaf) >= ORDER.indexOf(other.leaf) ? one : other;
  const takesNumbers = one.takesNumbers || other.takesNumbers;
  return { leaf: wins.leaf, takesNumbers, isList: wins.isList, field: (name) => wins.field(name) };
}

function leafOf(shape: Shape): Pick<Shape, 'leaf' | 'takesNumbers' | 'isList'> {
  return { leaf: shape.leaf, takesNumbers: shape.takesNumbers, isList: shape.isList };
}
