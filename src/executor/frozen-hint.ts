import { GraphQLError } from 'graphql';

/** V8's messages for a write to a frozen object, to a property with only a getter, or to a proxy that refuses it. */
const REFUSED_WRITE =
  /^Cannot (assign to read only|add|delete|define|redefine) property|which has only a getter$|is not extensible$|trap returned falsish/;

const HINT =
  'Viewers share events, variables, default values of arguments, `info` and what loaders of an event return, so these ' +
  'are frozen. Write to a copy: { ...value, more }, or structuredClone(value) for all that it holds.';

/** A hint for a resolver's error after a write to something frozen: the reason, and what to do instead. Never throws. */
export function frozenHint(error: unknown): string | undefined {
  try {
    const thrown = error instanceof GraphQLError ? error.originalError : error;
    return thrown instanceof TypeError && REFUSED_WRITE.test(thrown.message) ? HINT : undefined;
  } catch {
    return undefined;
  }
}
