import {
  execute,
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { Executor } from '../../../src/executor/executor.ts';
import { createLog } from '../../../src/log.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** An operation that is ready to run. */
export interface Prepared {
  readonly document: DocumentNode;
  /** The declared ones. */
  readonly variableNames: readonly string[];
  execute(event: unknown, context: unknown, variables: Variables): ExecutionResult | Promise<ExecutionResult>;
}

/** Prepares what one client has sent. */
export type Engine = (query: string, operationName: string | undefined) => Prepared | readonly GraphQLError[];

export type MakeEngine = (schema: GraphQLSchema) => Engine;

/** Parsed, validated and kept for each connection, as graphql-ws does. */
export const graphqlJs: MakeEngine = (schema) => interpreter(schema, false);

/** Without a location on each node of the syntax tree, and the tokens that hang from them. */
export const graphqlJsWithoutLocations: MakeEngine = (schema) => interpreter(schema, true);

/** The gateway's own: documents are prepared once, and compiled when they turn out to be frequent. */
export const cacheAndJit: MakeEngine = (schema) => {
  const executor = new Executor({ schema, cacheSize: 1_000, log: createLog('silent') });
  return (query, operationName) => {
    const operation = executor.prepare(query, operationName);
    if (!('document' in operation)) return operation;
    return {
      document: operation.document,
      variableNames: operation.variableNames,
      execute: (event, context, variables) => executor.execute(operation, event, context, variables),
    };
  };
};

function interpreter(schema: GraphQLSchema, noLocation: boolean): Engine {
  return (query, operationName) => {
    let document: DocumentNode;
    try {
      document = parse(query, { noLocation });
    } catch (error) {
      return [error as GraphQLError];
    }
    const errors = validate(schema, document);
    if (errors.length > 0) return errors;
    const operation = getOperationAST(document, operationName);
    if (!operation) return [new GraphQLError('Unable to identify operation')];
    return {
      document,
      variableNames: (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value),
      execute: (rootValue, contextValue, variableValues) =>
        execute({ schema, document, operationName, rootValue, contextValue, variableValues }),
    };
  };
}
