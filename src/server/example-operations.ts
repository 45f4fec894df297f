import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';

/** Nested objects below the event itself. */
const MAX_DEPTH = 2;
const MAX_FIELDS = 40;

type Field = GraphQLField<unknown, unknown>;

/**
 * The operations that GraphiQL shows first, each in a tab: a subscription, a query if there is one that returns objects,
 * and a subscription with required arguments, such as a key, if the first has none. Valid against the schema; they select
 * leaves, and objects down to MAX_DEPTH.
 */
export function exampleOperations(schema: GraphQLSchema): readonly [string, ...string[]] {
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  const current = fields.filter((field) => field.deprecationReason === undefined);
  // The first field that needs no arguments, or else the first one, with made-up arguments.
  const subscribed = current.find(runsWithoutArguments) ?? current[0] ?? fields[0];
  if (subscribed === undefined) return ['# This graph has no subscriptions.\n\n{\n  __typename\n}\n'];
  const queried = queryField(schema);
  const asked = runsWithoutArguments(subscribed)
    ? current.find((field) => !runsWithoutArguments(field))
    : undefined;
  const next = queried === undefined ? [] : [`# The next tab has a query: ${queried.name}.`];
  return [
    operation('subscription', subscribed, [...headline(subscribed), ...next]),
    ...(queried === undefined ? [] : [operation('query', queried, ['# A query, which is answered once.'])]),
    ...(asked === undefined ? [] : [operation('subscription', asked, headline(asked))]),
  ];
}

function queryField(schema: GraphQLSchema): Field | undefined {
  return Object.values(schema.getQueryType()?.getFields() ?? {}).find(
    (field) =>
      field.deprecationReason === undefined &&
      runsWithoutArguments(field) &&
      !isLeafType(getNamedType(field.type)),
  );
}

function operation(kind: 'subscription' | 'query', field: Field, comments: readonly string[]): string {
  const selection = new Selection().of(field.type, 0);
  return [
    ...comments,
    '',
    `${kind} ${pascalCase(field.name)} {`,
    `  ${field.name}${requiredArguments(field)}${selection}`,
    '}',
    '',
  ].join('\n');
}

/** Comments above a subscription. Lines are short, as the editor is half a page wide. */
function headline(field: Field): string[] {
  const lines = ['# Press play (Ctrl-Enter) to see events arrive.'];
  if (!runsWithoutArguments(field)) lines.push('# The arguments are made up: put in your own.');
  const optional = field.args.filter((argument) => !isRequiredArgument(argument));
  if (optional.length > 0) {
    lines.push(`# ${field.name} also takes:`);
    lines.push(...optional.map(({ name, type }) => `#   ${name}: ${String(type)}`));
  }
  return lines;
}

function runsWithoutArguments(field: Field): boolean {
  return !field.args.some(isRequiredArgument);
}

/** Writes selection sets with MAX_FIELDS fields in total. */
class Selection {
  #left = MAX_FIELDS;

  /** @returns the selection set with a leading space; an empty text for a leaf */
  of(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type);
    if (isLeafType(named)) return '';
    const indent = '  '.repeat(depth + 2);
    const lines = isObjectType(named) ? [] : [`${indent}__typename`];
    if (isObjectType(named) || isInterfaceType(named)) {
      for (const field of Object.values(named.getFields())) {
        const line = this.#line(field, depth);
        if (line !== undefined) lines.push(indent + line);
      }
    }
    if (lines.length === 0) lines.push(`${indent}__typename`);
    return ` {\n${lines.join('\n')}\n${'  '.repeat(depth + 1)}}`;
  }

  #line(field: Field, depth: number): string | undefined {
    const isLeaf = isLeafType(getNamedType(field.type));
    const fits = this.#left > 0 && (isLeaf || depth < MAX_DEPTH);
    if (!fits || !runsWithoutArguments(field) || field.deprecationReason !== undefined) return undefined;
    this.#left -= 1;
    return field.name + this.of(field.type, depth + 1);
  }
}

function requiredArguments(field: Field): string {
  const required = field.args.filter(isRequiredArgument);
  if (required.length === 0) return '';
  return `(${required.map(({ name, type }) => `${name}: ${madeUp(type)}`).join(', ')})`;
}

/** A literal of the type. The recursion ends, since GraphQL does not allow circles of required input fields. */
function madeUp(type: GraphQLInputType): string {
  if (isNonNullType(type)) return madeUp(type.ofType);
  if (isListType(type)) return `[${madeUp(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{ ${required.map((field) => `${field.name}: ${madeUp(field.type)}`).join(', ')} }`;
  }
  return { Int: '1', Float: '1.5', Boolean: 'true' }[type.name] ?? '"1"';
}

function pascalCase(name: string): string {
  return name
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}
