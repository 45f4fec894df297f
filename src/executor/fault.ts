import { GraphQLError } from 'graphql';
import { messageOf } from '../errors.ts';

/**
 * Errors that graphql-js itself reports of a value that does not fit the schema. They are GraphQLErrors like those that
 * a graph throws for its clients, but most quote the value: content of an event, or of a back end.
 */
const OF_A_VALUE = [
  /^(?:Int|Float|String|Boolean|ID) cannot represent /,
  /^Enum "\w+" cannot represent value: /,
  /^Expected value of type "\w+" but got: /,
  /^Expected Iterable, but did not find one for field /,
  /^Abstract type "\w+" (?:must resolve|was resolved) to /,
  /^Runtime Object type "\w+" is not a possible type for /,
  /^Support for returning GraphQLObjectType from resolveType was removed /,
];

/** A label for errors whose graph has given them no code. */
const NO_CODE = 'none';
const MAX_CODE = 100;

/** What is known of an error of a result: the code that the graph gave it for clients, or what has failed. */
export type Judgement = { readonly code: string } | { readonly fault: unknown };

/**
 * Tells errors that a graph throws for its clients, GraphQLErrors, from all others. Never throws, though code of the
 * graph may: getters and `toJSON` of what it has thrown.
 */
export function judge(error: unknown): Judgement {
  try {
    if (!(error instanceof GraphQLError)) return { fault: error };
    const thrown = error.originalError ?? error;
    if (!(thrown instanceof GraphQLError)) return { fault: thrown };
    if (OF_A_VALUE.some((pattern) => pattern.test(thrown.message))) return { fault: thrown };
    return isWritable(error) ? { code: codeOf(error) } : { fault: unwritable(error) };
  } catch (thrown) {
    return { fault: thrown };
  }
}

function codeOf({ extensions }: GraphQLError): string {
  const code = extensions['code'];
  return typeof code === 'string' && code !== '' ? code.slice(0, MAX_CODE) : NO_CODE;
}

/** One error that JSON can't hold would take all other fields of the result with it. */
function isWritable(error: GraphQLError): boolean {
  try {
    return JSON.stringify(error) !== undefined;
  } catch {
    return false;
  }
}

function unwritable(error: GraphQLError): TypeError {
  return new TypeError(
    `expected a GraphQLError that can be written as JSON, extensions included, got "${messageOf(error)}"`,
    { cause: error },
  );
}
