/** The description of values that a schema of any format gives: GraphQL types are written by it, and compared with it. */
export type Described =
  | DescribedObject
  | DescribedEnum
  /** Objects that say by their name which one they are. */
  | { readonly kind: 'union'; readonly members: readonly DescribedObject[] }
  | { readonly kind: 'list'; readonly of: DescribedValue }
  /** Values by texts. */
  | { readonly kind: 'map'; readonly of: DescribedValue }
  | { readonly kind: 'scalar'; readonly name: DescribedScalar };

interface Named {
  /** Without its package or namespace: several may have it. */
  readonly name: string;
  /** The same object for the same definition. */
  readonly definition: object;
  readonly doc?: string | undefined;
}

export interface DescribedEnum extends Named {
  readonly kind: 'enum';
  readonly values: readonly string[];
}

/** As a GraphQL schema would call it. `Long`: an integer of 64 bits. `JSON`: anything. */
export type DescribedScalar = 'Boolean' | 'Int' | 'Long' | 'Float' | 'Decimal' | 'String' | 'JSON';

export interface DescribedValue {
  readonly type: Described;
  readonly isNullable: boolean;
}

export interface DescribedField extends DescribedValue {
  readonly name: string;
  readonly doc?: string | undefined;
}

export interface DescribedObject extends Named {
  readonly kind: 'object';
  /** An object may hold itself. */
  readonly fields: () => readonly DescribedField[];
}

export function scalarOf(name: DescribedScalar): Described {
  return { kind: 'scalar', name };
}

/** A title, a field's name or a topic's as the name of a type. */
export function typeNameOf(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? [];
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(joined) ? joined : `Type${joined}`;
}
