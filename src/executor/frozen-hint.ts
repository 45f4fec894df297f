import { GraphQLError } from 'graphql';

/** What V8 says of a write to something frozen, to a property with a getter only, or to a proxy that refuses it. */
const REFUSED_WRITE =
  /^Cannot (assign to read only|add|delete|define|redefine) property|which has only a getter$|is not extensible$|trap returned falsish/;

const HINT =
  'Viewers share events, variables, default values of arguments, `info` and what loaders of an event return, so these ' +
  'are frozen. Write to a copy: { ...value, more }, or structuredClone(value) for all that it holds.';

/** For an error of a resolver that has written to something frozen: what it is and what to do instead. Never throws. */
export function frozenHint(error: unknown): string | undefined {
  try {
    const thrown = error instanceof GraphQLError ? error.originalError : error;
    return thrown instanceof TypeError && REFUSED_WRITE.test(thrown.message) ? HINT : undefined;
  } catch {
    return undefined;
  }
}
