import { GraphQLError } from 'graphql';
import { messageOf } from '../errors.ts';

/**
 * Errors that graphql-js itself reports if a value does not fit the schema. They are GraphQLErrors, like those that a graph
 * throws for its clients, but most quote the value, which is content of an event or of a back end.
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

/** The label for errors without a code from the graph. */
const NO_CODE = 'none';
const MAX_CODE = 100;

/** The judgement of an error in a result: its code from the graph, for clients, or the fault behind it. */
export type Judgement = { readonly code: string } | { readonly fault: unknown };

/**
 * Distinguishes errors that a graph throws for its clients, GraphQLErrors, from all others. Never throws, even if code of
 * the graph does: getters and `toJSON` of the thrown value.
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

/** Whether JSON can hold the error: if not, the error would make the whole result unwritable. */
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
