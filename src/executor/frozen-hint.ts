import { GraphQLError, type ExecutionResult } from 'graphql';

/** What V8 says of a write to something frozen, to a property with a getter only, or to a proxy that refuses it. */
const REFUSED_WRITE =
  /^Cannot (assign to read only|add|delete|define|redefine) property|which has only a getter$|is not extensible$|trap returned falsish/;

const HINT =
  'Viewers share events, variables, default values of arguments, `info` and what loaders of an event return, so these ' +
  'are frozen. Write to a copy: { ...value, more }, or structuredClone(value) for all that it holds.';

/** Adds to each error of a resolver that has written to something frozen what it is and what to do instead. */
export function withFrozenHints(result: ExecutionResult): ExecutionResult {
  if (result.errors === undefined || !result.errors.some(isRefusedWrite)) return result;
  return {
    ...result,
    errors: result.errors.map((error) => (isRefusedWrite(error) ? withHint(error) : error)),
  };
}

function isRefusedWrite({ originalError }: GraphQLError): boolean {
  return originalError instanceof TypeError && REFUSED_WRITE.test(originalError.message);
}

function withHint(error: GraphQLError): GraphQLError {
  const { message, nodes, source, positions, path, originalError, extensions } = error;
  return new GraphQLError(`${message}. ${HINT}`, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    originalError: originalError ?? null,
    extensions,
  });
}
