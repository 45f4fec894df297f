const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** A document that costs more than it weighs. */
export interface Bomb {
  readonly title: string;
  /** A text of its own for each number. */
  readonly text: (variant: number) => string;
  /** Code of the error that refuses it; undefined for an error of validation, which has none. */
  readonly code: string | undefined;
}

/** @param body of fragments F0 to F<count>, each with `next` of which it makes something */
const chain = (count: number, body: (next: string) => string): string =>
  `${times(count, (index) => `fragment F${index} on Event { ${body(`...F${index + 1}`)} }`)} fragment F${count} on Event { id }`;

/** For a schema in which `event { event { id title } }` can be asked for. */
export const BOMBS: readonly Bomb[] = [
  {
    title: 'aliases multiplied through fragments, 2 KB',
    text: (variant) =>
      `subscription V${variant} { event { ...F0 } } ${chain(18, (next) => `a: event { ${next} } b: event { ${next} }`)}`,
    code: 'TOO_MANY_FIELDS',
  },
  {
    title: '150 aliases a level',
    text: (variant) =>
      `subscription V${variant} { event { ${times(150, (index) => `a${index}: event { ...F0 }`)} } } ${chain(2, (next) => times(150, (index) => `b${index}: event { ${next} }`))}`,
    code: 'TOO_MANY_FIELDS',
  },
  {
    title: '180 operations that share a fragment of 190 fields, 5 KB',
    text: (variant) =>
      `${times(180, (index) => `subscription V${variant}O${index} { event { ...F } }`)} fragment F on Event { event { ${times(190, (index) => `a${index}: id`)} } }`,
    code: 'TOO_MANY_FIELDS',
  },
  {
    title: 'three hundred levels',
    text: (variant) => `subscription V${variant} { ${'event { '.repeat(300)} id ${'}'.repeat(300)} }`,
    code: 'TOO_DEEP',
  },
  {
    title: 'directives repeated through fragments',
    text: (variant) =>
      `subscription V${variant} { event { ...F0 } } ${chain(9, (next) => `${next} @skip(if: false) ${next} @include(if: true)`)}`,
    code: 'TOO_MANY_DIRECTIVES',
  },
  {
    title: 'introspection of all fields of all fields, 90 times',
    text: (variant) =>
      `query V${variant} { ${times(90, (index) => `a${index}: __schema { types { fields { type { fields { name args { name type { name } } } } } } }`)} }`,
    code: 'TOO_MUCH_INTROSPECTION',
  },
  {
    title: '300 fragments in one selection',
    text: (variant) =>
      `subscription V${variant} { event { ${times(300, (index) => `...F${index}`)} } } ${times(300, (index) => `fragment F${index} on Event { event { id } }`)}`,
    code: 'TOO_MANY_COMPARISONS',
  },
  {
    title: '900 times the same field',
    text: (variant) => `subscription V${variant} { event { ${'event { id } '.repeat(900)} } }`,
    code: 'TOO_MANY_COMPARISONS',
  },
  {
    title: '1,900 misspelt fields',
    text: (variant) => `query V${variant} { ${times(1_900, (index) => `evnt${index}`)} }`,
    code: 'TOO_MANY_ROOT_FIELDS',
  },
  {
    title: '400 misspelt fields below one field',
    text: (variant) => `query V${variant} { event { ${times(400, (index) => `titel${index}`)} } }`,
    code: undefined,
  },
];
