/** How a GraphQL scalar takes numbers. */
export type LeafKind =
  /** Int and Float: as numbers. */
  | 'number'
  /** ID and String: as text. */
  | 'text'
  /** Numbers of any size: as text with all their digits. */
  | 'digits'
  /** Others, and enums: as the format has them. */
  | 'other';

/**
 * The kind of value that the GraphQL schema expects at one place of an event. Formats with more kinds of numbers and maps than JSON
 * are decoded to what the field's type takes, for all values alike.
 */
export interface Shape {
  /** Undefined: the value is an object. */
  readonly leaf: LeafKind | undefined;
  /** Whether a field that shows the value takes a number, such as that of a time. */
  readonly takesNumbers: boolean;
  readonly isList: boolean;
  /** @param name as events have it for the schema. @returns undefined if the schema does not have the field */
  field(name: string): Shape | undefined;
}

/** Of Kafka keys, which are names of channels: all digits count. */
export const KEY_SHAPE: Shape = { leaf: 'text', takesNumbers: false, isList: false, field: () => KEY_SHAPE };
